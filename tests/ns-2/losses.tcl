# Fall and Floyd's network in ns-2: one connection, and segments of one window that are lost once each.
#
#     ns losses.tcl AGENT SINK WINDOW SEGMENT...
#
# Prints a line for every data packet that the sender sends: its time in seconds and its number, from 0. The agent does what
# ns-2 does by default, but for the window. Its SYN is packet 0 there, so data are numbered from 1.

set agent [lindex $argv 0]
set sink [lindex $argv 1]
set window [lindex $argv 2]

set ns [new Simulator]
set sender [$ns node]
set switch [$ns node]
set receiver [$ns node]
$ns duplex-link $sender $switch 8Mb 0ms DropTail
$ns duplex-link $switch $receiver 800Kb 100ms DropTail
$ns queue-limit $sender $switch 1000
$ns queue-limit $switch $receiver 1000

set tcp [new Agent/$agent]
set end [new Agent/$sink]
$tcp set window_ $window
$ns attach-agent $sender $tcp
$ns attach-agent $receiver $end
$ns connect $tcp $end
set ftp [$tcp attach-app FTP]

set numbers {}
foreach segment [lrange $argv 3 end] { lappend numbers [expr {$segment + 1}] }
set errors [new ErrorModel/List]
$errors droplist $numbers
$errors drop-target [new Agent/Null]
# Behind the transmission, so that what is lost takes its time on the link.
$ns link-lossmodel $errors $sender $switch

$ns trace-queue $sender $switch [open "|awk {\$1 == \"+\" && \$6 > 40 {print \$2, \$11 - 1}}" w]
$ns at 0.0 "$ftp start"
$ns at 10.0 "$ns flush-trace; exit 0"
$ns run
