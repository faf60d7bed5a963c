# a dumbbell with RED
set ns [new Simulator]
set val(n) 12
set bw 10Mb
Queue/RED set thresh_ 5
Queue/RED set maxthresh_ 15
Queue/RED set q_weight_ 0.002
Queue/RED set setbit_ true
Queue/RED set queue_in_bytes_ false
Queue/RED set mean_pktsize_ 1000
Agent/TCP set window_ 8000
set r1 [$ns node]
set r2 [$ns node]
$ns duplex-link $r1 $r2 $bw 20ms RED
$ns queue-limit $r1 $r2 60
for {set i 0} {$i < $val(n)} {incr i} {
  set s($i) [$ns node]
  set d($i) [$ns node]
  $ns duplex-link $s($i) $r1 100Mb 5ms DropTail
  $ns duplex-link $r2 $d($i) 100Mb 1ms DropTail
  set tcp($i) [new Agent/TCP/Newreno]
  set sink($i) [new Agent/TCPSink]
  set ftp($i) [new Application/FTP]
}
$ns run
