# jobs.tcl -- Queue/JoBS of ns-2.35 before a link of 10 Mbit/s, fed by four classes of Poisson-like traffic.
# usage: ns jobs.tcl key=value ...        (prints ONE JSON line on stdout; all parameters: see the table P below)
#
#   u(1..4) --access, 100 Mbit/s, 1 ms--> R1 ==10 Mbit/s, 1 ms, JoBS==> R2
#
# Each class is `flows` UDP sources that are on and off, exponentially, and send CBR while on. Bounds are ns-2's: one
# number a class, -1 for none; delays in s, rates in bit/s. The class is the agent's prio_, which Marker would set too.

array set P {
  mbps 10  delay 1  buf 60  psize 500  dur 60  warm 5  seed 1
  flows 20  peak 0.3,0.3,0.3,0.3  on 0.1  off 0.1
  adc -1,-1,-1,-1  arc -1,-1,-1,-1  alc -1,-1,-1,-1  rdc -1,-1,-1,-1  rlc -1,-1,-1,-1
  sampling 1  front 0  relief 0
}
foreach a $argv {
  set k [string first = $a]
  if {$k < 1} { puts stderr "bad argument $a"; exit 2 }
  set key [string range $a 0 [expr $k-1]]
  if {![info exists P($key)]} { puts stderr "unknown key $key"; exit 2 }
  set P($key) [string range $a [expr $k+1] end]
}
$defaultRNG seed $P(seed)
set starts [new RNG]
Queue/JoBS set drop_front_ $P(front)
Queue/JoBS set trace_hop_ false
Queue/JoBS set adc_resolution_type_ $P(relief)
Queue/JoBS set shared_buffer_ 1
Queue/JoBS set mean_pkt_size_ [expr 8*$P(psize)]

set ns [new Simulator]
set R1 [$ns node]; set R2 [$ns node]
$ns simplex-link $R1 $R2 $P(mbps)Mb $P(delay)ms JoBS
$ns queue-limit $R1 $R2 $P(buf)
set link [$ns link $R1 $R2]; set Q [$link queue]
# A sixth argument keeps JoBS from printing what it was told.
foreach {command key} {init-rdcs rdc init-rlcs rlc init-adcs adc init-alcs alc init-arcs arc} {
  eval $Q $command [split $P($key) ,] quiet
}
$Q link [$link link]
$Q trace-file null
$Q sampling-period $P(sampling)
$Q id 1
$Q initialize

set mon [$ns makeflowmon Fid]; $ns attach-fmon $link $mon 0
set peaks [split $P(peak) ,]
for {set c 1} {$c <= 4} {incr c} {
  set u($c) [$ns node]
  $ns duplex-link $u($c) $R1 100Mb 1ms DropTail
  $ns queue-limit $u($c) $R1 5000
  for {set i 0} {$i < $P(flows)} {incr i} {
    set agent [new Agent/UDP]; set sink [new Agent/Null]
    $agent set packetSize_ $P(psize); $agent set fid_ $c; $agent set prio_ $c
    $ns attach-agent $u($c) $agent; $ns attach-agent $R2 $sink; $ns connect $agent $sink
    set e [new Application/Traffic/Exponential]
    $e set packetSize_ $P(psize); $e set burst_time_ $P(on); $e set idle_time_ $P(off)
    $e set rate_ [lindex $peaks [expr $c-1]]Mb
    $e attach-agent $agent
    $ns at [$starts uniform 0 1] "$e start"
  }
}
proc counts {f} {
  set d [$f get-delay-samples]
  set n [$d cnt]
  return [list [$f set parrivals_] [$f set pdrops_] [$f set pdepartures_] $n [expr {$n > 0 ? $n*[$d mean] : 0.0}]]
}
proc snap {} {
  global mon W
  foreach f [$mon flows] { set W([$f set flowid_]) [counts $f] }
}
proc finish {} {
  global mon W P
  set J {}
  foreach f [$mon flows] {
    set c [$f set flowid_]
    lassign [counts $f] a d s n t
    lassign $W($c) a0 d0 s0 n0 t0
    lappend J [format {"arrivals%d":%d,"loss%d":%.6g,"delay%d":%.6g,"rate%d":%.6g} $c [expr int($a-$a0)] \
      $c [expr double($d-$d0)/($a-$a0)] $c [expr 1e3*($t-$t0)/($n-$n0)] \
      $c [expr 8e-6*$P(psize)*($s-$s0)/($P(dur)-$P(warm))]]
  }
  puts "{[join [lsort $J] ,]}"
  exit 0
}
$ns at $P(warm) snap
$ns at $P(dur) finish
$ns run
