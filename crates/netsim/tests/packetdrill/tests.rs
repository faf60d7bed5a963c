//! The player itself, with scripts of our own: each holds as it is and fails where a word of it is changed.

use super::{Verdict, play};

const PASSED: Verdict = Verdict::Passed { whole: true };

/// The other end connects and is accepted; round trips take 100 ms.
const SERVER: &str = "
`./defaults.sh`
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0
   +0 < S 0:0(0) win 65535 <mss 1000,sackOK,nop,nop,nop,wscale 7>
   +0 > S. 0:0(0) ack 1 <...>
  +.1 < . 1:1(0) ack 1 win 257
   +0 accept(3, ..., ...) = 4
";

const SENDER: &str = "
   +0 write(4, ..., 20000) = 20000 // of which the window lets ten segments go
   +0 > P. 1:10001(10000) ack 1
  +.1 < . 1:1(0) ack 2001 win 257
   +0 > P. 10001:14001(4000) ack 1
   +0 %{ assert tcpi_snd_cwnd == 12, tcpi_snd_cwnd }%
 +.01 < . 1:1(0) ack 2001 win 257 <sack 3001:4001,nop,nop>
   +0 < . 1:1(0) ack 2001 win 257 <sack 3001:5001,nop,nop>
   +0 < . 1:1(0) ack 2001 win 257 <sack 3001:6001,nop,nop>
   +0 > P. 14001:15001(1000) ack 1
   *  > P. 15001:16001(1000) ack 1
   *  > . 2001:3001(1000) ack 1
   +0 %{
assert tcpi_ca_state == TCP_CA_Recovery, tcpi_ca_state
assert tcpi_lost == 1 and tcpi_sacked == 3 and tcpi_retrans == 1
}%
";

const RECEIVER: &str = "
   +0 < P. 1:1001(1000) ack 1 win 257
   +0 > . 1:1(0) ack 1001
   +0 ioctl(4, SIOCINQ, [1000]) = 0
   +0 read(4, ..., 1000) = 1000
   +0 < . 2001:3001(1000) ack 1 win 257
   +0 > . 1:1(0) ack 1001 <nop,nop,sack 2001:3001>
   +0 < . 2001:3001(1000) ack 1 win 257
   +0 > . 1:1(0) ack 1001 <nop,nop,sack 2001:3001 2001:3001>
  +.1...0.200 read(4, ..., 2000) = 2000
  +.1 < . 1001:2001(1000) ack 1 win 257
   +0 > . 1:1(0) ack 3001
";

/// Our end connects, with ECN and timestamps.
const CLIENT: &str = "
`./defaults.sh
sysctl -q net.ipv4.tcp_ecn=1  # and not 3`
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
  +.1...0.150 connect(3, ..., ...) = 0
   +0 > SEW 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 8>
 +.05 < SE. 0:0(0) ack 1 win 65535 <mss 1012,sackOK,TS val 700 ecr 100,nop,wscale 7>
   +0 > . 1:1(0) ack 1 <nop,nop,TS val 150 ecr 700>
   +0 write(3, ..., 1500) = 1500
   +0 > [ect0] P. 1:1501(1500) ack 1 <nop,nop,TS val 150 ecr 700>
+.1~+.11 > [noecn] P. 1001:1501(500) ack 1
 +.01 < E. 1:1(0) ack 1501 win 257 <nop,nop,TS val 950 ecr 150>
   +0 %{ assert tcpi_ca_state == TCP_CA_CWR and 55000 < tcpi_rtt < 100000, tcpi_rtt }%
";

const CLOSER: &str = "
   +0 write(4, ..., 1000) = 1000
   +0 > P. 1:1001(1000) ack 1
   +0 close(4) = 0
   +0 > F. 1001:1001(0) ack 1
  +.1 < F. 1:1(0) ack 1002 win 257
   +0 > . 1002:1002(0) ack 2
";

fn failure(script: &str, was: &str, is: &str) -> String {
    assert!(script.contains(was), "{was}");
    match play(&script.replacen(was, is, 1)) {
        Verdict::Failed(problem) => problem,
        other => panic!("with {is} for {was}: {other:?}"),
    }
}

#[test]
fn scripts_that_hold_pass() {
    for script in [SENDER, RECEIVER, CLOSER] {
        assert_eq!(play(&format!("{SERVER}{script}")), PASSED);
    }
    assert_eq!(play(CLIENT), PASSED);
}

#[test]
fn each_difference_of_a_sender_is_found() {
    let script = format!("{SERVER}{SENDER}");
    for (was, is, problem) in [
        ("10001:14001(4000)", "10001:13001(3000)", "ours: > . 13001:14001(1000)"),
        ("10001:14001(4000)", "10001:15001(5000)", "nothing is sent after byte 14001"),
        ("1:10001(10000)", "1:9001(9000)", "ours: > . 9001:10001(1000)"),
        ("cwnd == 12", "cwnd == 13", "AssertionError 12"),
        ("tcpi_lost == 1", "tcpi_lost == 2", "AssertionError"),
        ("2001:3001(1000) ack 1\n   +0", "3001:4001(1000) ack 1\n   +0", "ours: > . 2001:3001(1000)"),
        ("   *  > . 2001", "   +1 > . 2001", "and not at"),
    ] {
        let found = failure(&script, was, is);
        assert!(found.contains(problem), "{is}: {found}");
    }
}

#[test]
fn each_difference_of_a_close_is_found() {
    let script = format!("{SERVER}{CLOSER}");
    for (was, is, problem) in [
        ("F. 1001:1001", "F. 1:1", "ours: > F. 1001:1001(0)"),
        ("> F. 1001", "> . 1001", "ours: > F. 1001:1001(0)"),
        ("> . 1002", "> F. 1002", "ours: > . ack 1"),
    ] {
        let found = failure(&script, was, is);
        assert!(found.contains(problem), "{is}: {found}");
    }
}

#[test]
fn each_difference_of_a_receiver_is_found() {
    let script = format!("{SERVER}{RECEIVER}");
    for (was, is, problem) in [
        ("ack 1001\n", "ack 2001\n", "ours: > . ack 1001"),
        ("sack 2001:3001>", "sack 2001:4001>", "ours: > . ack 1001 sack 2001:3001"),
        ("sack 2001:3001 2001:3001", "sack 2001:3001", "sack 2001:3001 sack 2001:3001"),
        ("read(4, ..., 1000) = 1000", "read(4, ..., 2000) = 2000", "1000 bytes have arrived"),
        ("[1000]", "[2000]", "ours: 1000"),
        ("+.1...0.200 read", "+.1...0.300 read", "returns at another time"),
        ("   +0 > . 1:1(0) ack 3001", "   +.1 > . 1:1(0) ack 3001", "and not at"),
    ] {
        let found = failure(&script, was, is);
        assert!(found.contains(problem), "{is}: {found}");
    }
}

#[test]
fn each_difference_of_a_client_is_found() {
    for (was, is, problem) in [
        ("> SEW", "> S", "ours: > SEW"),
        ("[ect0]", "[noecn]", "ours: > [ect]"),
        ("[noecn] P. 1001:1501(500)", "P. 1:1501(1500)", "ours: > . 1001:1501(500)"),
        ("+.1~+.11", "+.6~+.8", "and not at"),
        ("< E. 1:1", "< . 1:1", "AssertionError"),
        // The echo says when what it acknowledges was sent.
        ("ecr 150>\n   +0 %", "ecr 340>\n   +0 %", "AssertionError"),
        ("+.1...0.150 connect", "+.1...0.250 connect", "returns at another time"),
    ] {
        let found = failure(CLIENT, was, is);
        assert!(found.contains(problem), "{is}: {found}");
    }
}

#[test]
fn what_the_simulator_lacks_is_named() {
    for (line, reason) in [
        ("+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0", "MSG_MORE and TCP_CORK"),
        ("+0 send(4, ..., 400, MSG_EOR) = 400", "ends of records"),
        ("+0 write(4, ..., 9000) = 4000", "the size of the send buffer"),
        ("+0 < R. 1:1(0) ack 1 win 257", "resets"),
        ("+0 shutdown(4, SHUT_RD) = 0", "closing"),
        ("+0 < F. 1:1(0) ack 1 win 257", "closing"),
        ("+0 < icmp unreachable frag_needed mtu 800 [1:1(0)]", "ICMP"),
        ("+0 < . 1:1(0) ack 1001 win 257", "an ACK of what was never sent"),
        ("+0 %{ assert tcpi_rcv_mss == 1000 }%", "the kernel's tcpi_rcv_mss"),
        ("+0 write(4, ..., 400) = 400\n+0 write(4, ..., 400) = 400", "Nagle's algorithm"),
    ] {
        assert_eq!(play(&format!("{SERVER}{line}\n")), Verdict::NotApplicable(reason.to_owned()), "{line}");
    }
}

/// Our end is connected to with Accurate ECN, and sends: an ACK reports two marks by its counter and its option.
const COUNTED: &str = "
`defaults.sh
sysctl -q net.ipv4.tcp_ecn=3`
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0
   +0 < [ect1] SEWA 0:0(0) win 65535 <mss 1012,sackOK,nop,nop,nop,wscale 7>
   +0 > [noecn] SEW. 0:0(0) ack 1 <mss 1460,ECN e1b 1 ceb 0 e0b 1,nop,nop,nop,sackOK,nop,wscale 8>
  +.1 < [ect0] W. 1:1(0) ack 1 win 257 <ECN e0b 1 ceb 0 e1b 1,nop>
   +0 accept(3, ..., ...) = 4
   +0 write(4, ..., 10000) = 10000
   +0 > [ect0] P5. 1:10001(10000) ack 1
  +.1 < [ect0] .7 1:1(0) ack 3001 win 257 <ECN e0b 1001 ceb 2000 e1b 1,nop>
   +0 %{ assert tcpi_ca_state == TCP_CA_CWR and tcpi_delivered_ce == 2, tcpi_delivered_ce }%
   +0 %{ assert tcpi_delivered_ce_bytes == 2000, tcpi_delivered_ce_bytes }%
";

/// The same, but our end receives.
const COUNTING: &str = "
`defaults.sh
sysctl -q net.ipv4.tcp_ecn=3`
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0
   +0 < SEWA 0:0(0) win 65535 <mss 1012,sackOK,nop,nop,nop,wscale 7>
   +0 > SW. 0:0(0) ack 1 <mss 1460,ECN e1b 1 ceb 0 e0b 1,nop,nop,nop,sackOK,nop,wscale 8>
  +.1 < [ect0] W. 1:1(0) ack 1 win 257 <ECN e0b 1 ceb 0 e1b 1,nop>
   +0 accept(3, ..., ...) = 4
   +0 < [ce] P5. 1:1001(1000) ack 1 win 257 <ECN e0b 1 ceb 0 e1b 1,nop>
   +0 > [ect0] .6 1:1(0) ack 1001 <ECN e1b 1 ceb 1000 e0b 1,nop>
";

#[test]
fn accurate_ecn_is_agreed_on_by_all_three_flags() {
    assert_eq!([COUNTED, COUNTING].map(play), [PASSED; 2]);
    // What does not agree on it has RFC 3168's ECN or none.
    let ecn = |value| format!("defaults.sh\nsysctl -q net.ipv4.tcp_ecn={value}");
    let server = SERVER.replace("defaults.sh", &ecn(3));
    assert_eq!(play(&server.replace("< S 0", "< SEW 0").replace("> S.", "> SE.")), PASSED);
    assert_eq!(play(&CLIENT.replace("tcp_ecn=1", "tcp_ecn=3").replace("> SEW", "> SEWA")), PASSED);
    assert_eq!(play(&CLIENT.replace("tcp_ecn=1", "tcp_ecn=4")), PASSED);
    assert!(failure(CLIENT, "tcp_ecn=1", "tcp_ecn=3").contains("ours: > SEWA 0:0(0)"));
    assert!(failure(CLIENT, "tcp_ecn=1", "tcp_ecn=5").contains("ours: > S 0:0(0)"));
}

#[test]
fn each_difference_of_accurate_ecn_is_found() {
    for (script, was, is, problem) in [
        (COUNTED, "[noecn] SEW.", "[noecn] SW.", "ours: > SEW. 0:0(0) ack 1 ECN e1b 1 ceb 0 e0b 1"),
        (COUNTED, "ECN e1b 1 ceb 0 e0b 1,nop,nop,", "nop,nop,", "ours: > SEW."),
        (COUNTED, "tcp_ecn=3", "tcp_ecn=3 net.ipv4.tcp_ecn_option=0", "ours: > SEW. 0:0(0) ack 1"),
        (COUNTED, "< [ect0] W.", "< [ect0] .", "ours: > . 1:"),
        (COUNTED, ".7 1:1", ".6 1:1", "AssertionError 1"),
        (COUNTED, "ceb 2000", "ceb 1000", "AssertionError 1000"),
        (COUNTING, "[ce] P5.", "[ect0] P5.", "ours: > [ect] EA. ack 1001 ECN e1b 1 ceb 0 e0b 1001"),
        (COUNTING, ".6 1:1", ".5 1:1", "ours: > [ect] WA. ack 1001 ECN e1b 1 ceb 1000 e0b 1"),
        (COUNTING, "ceb 1000 e0b 1,nop>", "ceb 1000 e0b 1001,nop>", "ours: > [ect] WA."),
        (COUNTING, "> [ect0] .6", "> [noecn] .6", "ours: > [ect] WA."),
    ] {
        let found = failure(script, was, is);
        assert!(found.contains(problem), "{is}: {found}");
    }
    let marked = Verdict::NotApplicable("marks on ACKs".to_owned());
    assert_eq!(play(&COUNTED.replace("< [ect0] W.", "< [ce] W.")), marked);
}

#[test]
fn a_difference_before_what_is_missing_fails_and_what_is_before_closing_counts() {
    let closed = format!("{SERVER}{SENDER}+0 close(4) = 0\n+0 > F. 16001:16001(0) ack 1\n");
    assert_eq!(play(&closed), Verdict::Passed { whole: false });
    assert!(failure(&closed, "cwnd == 12", "cwnd == 10").contains("AssertionError 12"));
}

#[test]
fn the_other_ends_window_holds_segments_back() {
    let narrow = SERVER.replace("win 257", "win 24"); // 3072 bytes
    let script = "
   +0 write(4, ..., 5000) = 5000
   +0 > P. 1:3001(3000) ack 1
  +.1 < . 1:1(0) ack 1001 win 32
   +0 > P. 3001:5001(2000) ack 1
";
    assert_eq!(play(&format!("{narrow}{script}")), PASSED);
    assert!(failure(&format!("{narrow}{script}"), "win 24", "win 16").contains("after byte 2001"));
}
