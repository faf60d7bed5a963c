//! All endpoints of a run, and the loop in which they act.

use crate::connections::{CHUNK, Connection, Role, Sender, Table};
use crate::counters::Counters;
use crate::datagrams::UdpSource;
use crate::programs::Process;
use crate::sockets::{Sockets, servers};
use crate::web::Client;
use aqm::unit::{Span, Time};
use netsim::traffic::{Arrivals, Bulk, bulk, starts, stop};
use router::clock::{Clock, Poll, Timer};
use router::ends::Report;
use router::hosts::{Hosts, Ip};
use router::sys::TcpInfo;
use run::Column;
use rustix::event::epoll::EventFlags;
use scenario::Scenario;
use scenario::model::{TrafficKind, Udp};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io;
use std::net::SocketAddr;
use std::os::fd::RawFd;

const TIMER: u64 = u64::MAX;
const STOP: u64 = TIMER - 1;
/// The tokens of programs have this bit, and those of sockets do not.
pub(crate) const PROGRAM: u64 = 1 << 63;

/// All endpoints.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) scenario: Scenario,
    pub(crate) seed: u64,
    pub(crate) end: Time,
    pub(crate) hosts: Hosts,
    pub(crate) sockets: Sockets,
    pub(crate) table: Table,
    pub(crate) poll: Poll,
    pub(crate) counters: Counters,
    pub(crate) sources: Vec<UdpSource>,
    pub(crate) clients: Vec<Client>,
    pub(crate) processes: Vec<Process>,
    /// Those of each entry that is `short`.
    pub(crate) arrivals: Vec<Option<Arrivals>>,
    /// The flows that are there for the whole run, by entry and address of their senders.
    pub(crate) flows: HashMap<(usize, SocketAddr), usize>,
    /// The flows that receivers have asked for, by entry and address of the receiver.
    pub(crate) asked: HashMap<(usize, SocketAddr), Sender>,
    pub(crate) zeros: Vec<u8>,
    pub(crate) clock: Clock,
    timer: Timer,
    /// The actions to come; at one time, in the order in which they were planned.
    agenda: BinaryHeap<Reverse<(Time, u64, Action)>>,
    planned: u64,
    /// The number of flows of each entry, among those of TCP that are there for the whole run, before its first.
    before: Vec<usize>,
    samples: Samples,
}

/// What applications do by themselves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Action {
    /// The warm-up ends.
    Warmup,
    /// A flow starts that is there for the whole run: entry, number, bytes.
    Bulk(usize, usize, u64),
    /// A flow of a `short` entry arrives.
    Short(usize),
    /// A web client begins a session, or goes on with it.
    Session(usize),
    /// A source sends.
    Datagram(usize),
    /// A flow's application produces no more.
    Stop(u64),
    /// The windows are sampled.
    Sample,
    /// A program of an entry begins: entry, number.
    Launch(usize, usize),
    /// A program is asked to end.
    Halt(usize),
}

/// The sampled state of senders, a row each time and flow.
type Samples = Vec<[f64; SAMPLED.len()]>;

/// The most by which the senders may be late at the end of a run: a machine that keeps up has stalls that are shorter.
const LATEST: Span = Span::ms(100);

/// The columns of the samples: the first five as the packet engine has them; times in s, rates in bit/s.
const SAMPLED: [&str; 13] = [
    "t",
    "flow",
    "class",
    "cwnd",
    "ssthresh",
    "rtt",
    "rtt_deviation",
    "rtt_min",
    "rto",
    "unacked",
    "lost",
    "retransmits",
    "pacing_rate",
];

impl Driver {
    /// The endpoints of `scenario`, whose hosts are in these namespaces. A run beside a `shell` ends when the standard input
    /// is closed.
    pub(crate) fn new(
        scenario: Scenario,
        seed: u64,
        clock: Clock,
        namespaces: &[RawFd],
        ip: Ip,
        shell: bool,
    ) -> Result<Self, String> {
        let hosts = Hosts::new(&scenario, shell).map_err(|problems| format!("{}", problems[0]))?;
        let failed = |error: io::Error| error.to_string();
        let persistent = |kind: &TrafficKind| matches!(kind, TrafficKind::Ftp(_) | TrafficKind::Transfer(..));
        let counted = |kind: &TrafficKind| persistent(kind) || matches!(kind, TrafficKind::Udp(..));
        let counters = Counters::new(
            scenario.traffic.iter().map(|entry| if counted(&entry.kind) { entry.count as usize } else { 0 }),
        );
        let before = scenario.traffic.iter().scan(0, |sum, entry| {
            let before = *sum;
            *sum += if persistent(&entry.kind) { entry.count as usize } else { 0 };
            Some(before)
        });
        let timer = Timer::new(clock).map_err(failed)?;
        let poll = Poll::new().map_err(failed)?;
        poll.add(&timer, TIMER, EventFlags::IN).map_err(failed)?;
        if shell {
            poll.add(io::stdin(), STOP, EventFlags::IN).map_err(failed)?;
        }
        let mut driver = Self {
            before: before.collect(),
            seed,
            end: Time::ZERO + scenario.general.duration,
            sockets: Sockets::new(&scenario, namespaces, ip).map_err(failed)?,
            table: Table::new(),
            counters,
            sources: Vec::new(),
            clients: Vec::new(),
            processes: Vec::new(),
            arrivals: Vec::new(),
            flows: HashMap::new(),
            asked: HashMap::new(),
            zeros: vec![0; CHUNK],
            agenda: BinaryHeap::new(),
            planned: 0,
            samples: Samples::new(),
            scenario,
            hosts,
            poll,
            clock,
            timer,
        };
        driver.set_up().map_err(failed)?;
        Ok(driver)
    }

    fn set_up(&mut self) -> io::Result<()> {
        self.plan(Time::ZERO + self.scenario.general.warmup, Action::Warmup);
        if self.scenario.record.cwnd.is_some_and(|step| step > Span::ZERO) {
            self.plan(Time::ZERO, Action::Sample);
        }
        for class in 0..self.scenario.traffic.len() {
            let entry = self.scenario.traffic[class].clone();
            let (is_udp, is_asked) =
                (matches!(entry.kind, TrafficKind::Udp(..)), entry.kind.request().is_some());
            let is_program = matches!(entry.kind, TrafficKind::Program(_));
            let listening =
                if is_program { Vec::new() } else { servers(&self.scenario, &self.hosts, class, is_asked) };
            for host in listening {
                let (socket, role) = if is_udp {
                    let answers = matches!(entry.kind, TrafficKind::Udp(Udp::Ping(_), _));
                    (self.sockets.sink(class, host)?, if answers { Role::Answerer } else { Role::Sink })
                } else {
                    (self.sockets.listener(class, host)?, Role::Listener)
                };
                self.open(Connection { socket, class, role }, EventFlags::IN)?;
            }
            self.arrivals.push(None);
            match &entry.kind {
                TrafficKind::Ftp(_) => self.plan_bulk(class, bulk(&entry, None, self.seed)),
                TrafficKind::Transfer(_, transfer) => {
                    self.plan_bulk(class, bulk(&entry, Some(&transfer.size), self.seed))
                }
                TrafficKind::Short(_, law) => {
                    let mut arrivals = Arrivals::new(&entry, law, self.seed);
                    for start in starts(&entry, self.seed) {
                        let first = arrivals.after(start);
                        self.plan(first, Action::Short(class));
                    }
                    self.arrivals[class] = Some(arrivals);
                }
                TrafficKind::Web(_, web) => self.add_clients(class, web),
                TrafficKind::Udp(udp, ecn) => self.add_sources(class, udp, *ecn)?,
                TrafficKind::Program(program) => self.add_programs(class, program)?,
            }
        }
        Ok(())
    }

    fn plan_bulk(&mut self, class: usize, flows: impl Iterator<Item = Bulk>) {
        for (i, Bulk { start, payload }) in flows.enumerate() {
            self.plan(start, Action::Bulk(class, i, payload));
        }
    }

    /// Plans something within the run.
    pub(crate) fn plan(&mut self, at: Time, action: Action) {
        if at < self.end {
            self.agenda.push(Reverse((at, self.planned, action)));
            self.planned += 1;
        }
    }

    /// Lets the endpoints act until the end of the run.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        let mut ready = Vec::new();
        let mut now = Time::ZERO;
        if self.clock.has_started() {
            return Err(io::Error::other(
                "the senders were not ready at the start of the run: the machine is overloaded",
            ));
        }
        // Nothing is due before the start: it is time zero until then.
        self.timer.arm(Time::ZERO)?;
        let mut is_over = false;
        while !is_over {
            ready.extend(self.poll.wait()?);
            for (token, _) in ready.drain(..) {
                match token {
                    TIMER => is_over = true,
                    STOP => {}
                    token => self.on_program(token, Time::ZERO)?,
                }
            }
        }
        self.timer.went_off();
        loop {
            if now >= self.end {
                return self.kept_up(now);
            }
            while let Some(&Reverse((at, _, action))) = self.agenda.peek().filter(|due| due.0.0 <= now) {
                self.agenda.pop();
                self.act(action, at, now)?;
            }
            let next = self.agenda.peek().map_or(self.end, |due| due.0.0);
            self.timer.arm(next.min(self.end))?;
            ready.extend(self.poll.wait()?);
            now = self.clock.now();
            for (token, events) in ready.drain(..) {
                match token {
                    TIMER => self.timer.went_off(),
                    STOP => self.end = self.end.min(now),
                    token if token & PROGRAM != 0 => self.on_program(token, now)?,
                    token => self.on_event(token, events, now)?,
                }
            }
        }
    }

    /// Refuses a run at whose end the senders were behind.
    fn kept_up(&self, now: Time) -> io::Result<()> {
        let left = self.agenda.peek().map_or(self.end, |due| due.0.0);
        // Either something was due long ago, or doing it has taken until long after the end.
        let late = self.end.since(left).max(now.since(self.end));
        if late <= LATEST {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "at the end of the run the senders were {:.1} s late: this machine cannot send so much; use lower rates or fewer \
             flows, or clock=virtual",
            late.secs()
        )))
    }

    fn act(&mut self, action: Action, planned: Time, now: Time) -> io::Result<()> {
        match action {
            Action::Warmup => {
                let live = self.live();
                self.counters.end_warmup(live.iter().map(|(class, info)| (*class, info)));
            }
            Action::Bulk(class, i, left) => {
                let sender = Sender {
                    start: planned,
                    left,
                    completes: left < u64::MAX,
                    connected: false,
                    awaits: 0,
                    flow: Some(i),
                };
                if let Some(request) = self.request_size(class) {
                    self.call(class, i, Sender { awaits: request, connected: true, ..sender })?;
                } else if let Some(token) = self.start(class, i, sender)? {
                    self.plan(stop(&self.scenario.traffic[class]), Action::Stop(token));
                }
            }
            Action::Short(class) => self.arrive(class, planned)?,
            Action::Session(client) => self.begin_session(client, planned)?,
            Action::Datagram(source) => self.send_datagrams(source, now, planned),
            Action::Stop(token) => self.stop(token)?,
            Action::Sample => self.sample(planned),
            Action::Launch(class, i) => self.launch(class, i, now)?,
            Action::Halt(process) => self.halt(process),
        }
        Ok(())
    }

    fn on_event(&mut self, token: u64, events: EventFlags, now: Time) -> io::Result<()> {
        let Some(connection) = self.table.get(token) else { return Ok(()) };
        let (incoming, outgoing) = (events.contains(EventFlags::IN), events.contains(EventFlags::OUT));
        if events.contains(EventFlags::ERR)
            && let Some(error) = connection.socket.take_error()?
        {
            return self.fail(token, &error);
        }
        match connection.role {
            Role::Listener => self.accept(token),
            Role::Sink => self.take_datagrams(token),
            Role::Answerer => self.answer(token),
            Role::Asker => self.take_answers(token),
            Role::Receiver(_) => self.receive(token),
            Role::Caller(_) => {
                if incoming {
                    self.receive(token)?;
                }
                if outgoing { self.send_request(token) } else { Ok(()) }
            }
            Role::Sender(ref mut sender) => {
                sender.connected |= outgoing;
                if incoming {
                    self.finish(token, now)?;
                }
                if outgoing { self.send(token) } else { Ok(()) }
            }
            Role::Client(..) => {
                if incoming {
                    self.take_object(token, now)?;
                }
                if outgoing { self.ask(token, now) } else { Ok(()) }
            }
            Role::Server(_) => {
                if incoming {
                    self.take_requests(token)?;
                }
                if outgoing { self.serve(token) } else { Ok(()) }
            }
        }
    }

    /// The kernel's account of each connection that sends.
    fn live(&self) -> Vec<(usize, TcpInfo)> {
        let sending = self.table.all().filter(|connection| connection.role.sends());
        sending.filter_map(|each| Some((each.class, TcpInfo::of(&each.socket).ok()?))).collect()
    }

    fn sample(&mut self, at: Time) {
        for connection in self.table.all() {
            let Role::Sender(Sender { flow: Some(flow), .. }) = connection.role else { continue };
            let Ok(info) = TcpInfo::of(&connection.socket) else { continue };
            let us = |x: u32| f64::from(x) * 1e-6;
            let [rtt, deviation, least] =
                info.rtt.map_or([f64::NAN; 3], |rtt| [rtt.smoothed, rtt.deviation, rtt.least].map(us));
            // The kernel's "infinite" threshold; the packet engine has none that is larger than the window may be.
            let ssthresh = if info.ssthresh >= i32::MAX as u32 { f64::NAN } else { f64::from(info.ssthresh) };
            self.samples.push([
                at.secs(),
                (self.before[connection.class] + flow) as f64,
                connection.class as f64,
                f64::from(info.cwnd),
                ssthresh,
                rtt,
                deviation,
                least,
                us(info.rto),
                f64::from(info.unacked),
                f64::from(info.lost),
                f64::from(info.total_retrans),
                if info.pacing_rate == u64::MAX { f64::NAN } else { 8.0 * info.pacing_rate as f64 },
            ]);
        }
        if let Some(step) = self.scenario.record.cwnd {
            self.plan(at + step, Action::Sample);
        }
    }

    /// The samples by column; `None` if there are none.
    pub(crate) fn samples(&self) -> Option<Vec<Column>> {
        let column = |(i, name): (usize, &&str)| Column {
            name: (*name).to_owned(),
            values: self.samples.iter().map(|row| row[i]).collect(),
        };
        (!self.samples.is_empty()).then(|| SAMPLED.iter().enumerate().map(column).collect())
    }

    /// What the endpoints know of the run, which is over.
    pub(crate) fn report(&mut self) -> Report {
        self.count_playback(self.end);
        let live = self.live();
        let report = self.counters.report(live.iter().map(|(class, info)| (*class, info)));
        Report { programs: self.end_programs(), ..report }
    }
}
