set ns [new Simulator]
set rate 15
Queue set limit_ 80
Agent/TCP set packetSize_ 960
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set mean_pktsize_ [expr 960+40]
Queue/RED set thresh_ 20 ; # packets
Queue/RED set maxthresh_ 60
Queue/RED set gentle_ false
set R1 [$ns node]
set R2 [$ns node]
$ns simplex-link $R1 $R2 [set rate]Mb 35ms RED
$ns simplex-link $R2 $R1 15Mb 35ms DropTail
$ns queue-limit $R1 $R2 300
for {set i 1} {$i <= 6} {incr i} {
    set n($i) [$ns node]
    $ns duplex-link $n($i) $R1 100Mb 3ms DropTail
    set tcp($i) [new Agent/TCP/Reno]
}
