//! ns-2's jobs.cc, in floats and seconds, with classes counted from 1: a queue of its own, whose packets are
//! identified by number. `meant` undoes the deviations that the head of aqm/jobs.rs lists.

use std::collections::VecDeque;

const NO_CLASSES: usize = 4;
/// 1e-10 in jobs.h, and 0 where rates are compared; rounding would decide there.
const PRECISION_ERROR: f64 = 1e-3;
type PerClass<T> = [T; NO_CLASSES + 1];
const ALL: std::ops::RangeInclusive<usize> = 1..=NO_CLASSES;

#[derive(Clone, Copy)]
struct Pkt {
    number: u64,
    bits: f64,
    ts: f64,
}

/// The values that Tcl sets, and whether the deviations are undone.
#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) meant: bool,
    pub(crate) drop_front: bool,
    pub(crate) shared_pain: bool,
    pub(crate) bandwidth: f64,
    pub(crate) qlim: usize,
    pub(crate) sampling_period: u32,
    pub(crate) mean_pkt_size: f64,
    /// -1 for "not concerned".
    pub(crate) rdc: PerClass<f64>,
    pub(crate) rlc: PerClass<f64>,
    pub(crate) adc: PerClass<f64>,
    pub(crate) alc: PerClass<f64>,
    pub(crate) arc: PerClass<f64>,
}

#[derive(Default)]
pub(crate) struct Jobs {
    set: Settings,
    cls: PerClass<VecDeque<Pkt>>,
    prod_others: PerClass<f64>,
    loss_prod_others: PerClass<f64>,
    pub(crate) service_rate: PerClass<f64>,
    pub(crate) current_loss: PerClass<f64>,
    rin: PerClass<f64>,
    rout: PerClass<f64>,
    rout_th: PerClass<f64>,
    arrival: PerClass<f64>,
    last_rate_update: PerClass<Option<f64>>,
    last_event: f64,
    min_rate: PerClass<f64>,
    min_drop: PerClass<f64>,
    error: PerClass<f64>,
    kp_static: f64,
    busy: bool,
    pkt_count: u32,
    monitoring_window: f64,
    last_monitor_update: f64,
    last_arrival: f64,
    sliding_arv_pkts: f64,
    sliding_inter: f64,
    sliding_avg_pkt_size: f64,
    util: f64,
    dropped: Vec<u64>,
}

fn products(factor: &PerClass<f64>) -> PerClass<f64> {
    let mut tmp = [1.0; NO_CLASSES + 1];
    let mut result = [1.0; NO_CLASSES + 1];
    for i in ALL {
        for before in &factor[1..i] {
            if *before != -1.0 {
                tmp[i] *= before;
            }
        }
    }
    for i in ALL {
        for j in ALL {
            if j != i && factor[j] != -1.0 {
                result[i] *= tmp[j];
            }
        }
    }
    result
}

impl Jobs {
    pub(crate) fn new(set: Settings) -> Self {
        let mut new = Self { set, ..Self::default() };
        new.initialize();
        new
    }

    fn initialize(&mut self) {
        self.prod_others = products(&self.set.rdc);
        self.loss_prod_others = products(&self.set.rlc);
        let mut my_max_pi = 0.0;
        for i in ALL {
            if self.set.rdc[i] != -1.0 && self.prod_others[i] > my_max_pi {
                my_max_pi = self.prod_others[i];
            }
        }
        self.kp_static = -2.0 / (my_max_pi * self.set.mean_pkt_size * f64::from(self.set.sampling_period));
    }

    /// Class `i`'s bound on its loss.
    fn alc_of(&self, i: usize) -> f64 {
        if self.set.alc[i] == -1.0 { f64::INFINITY } else { self.set.alc[i] }
    }

    fn backlog_bits(&self, i: usize) -> f64 {
        self.cls[i].iter().map(|p| p.bits).sum()
    }

    fn backlogged(&self, i: usize) -> bool {
        !self.cls[i].is_empty()
    }

    fn victim(&self, i: usize) -> Pkt {
        *(if self.set.drop_front { self.cls[i].front() } else { self.cls[i].back() }).unwrap()
    }

    fn waited(&self, i: usize, now: f64) -> f64 {
        now - self.cls[i][0].ts
    }

    pub(crate) fn deque(&mut self, now: f64) -> Option<u64> {
        if self.set.meant {
            self.serve_in_theory(now);
        }
        let mut max_error = f64::NEG_INFINITY;
        let mut svc_class = 0;
        for i in ALL {
            if self.backlogged(i) && self.rout_th[i] - self.rout[i] > max_error {
                max_error = self.rout_th[i] - self.rout[i];
                svc_class = i;
            }
        }
        if svc_class == 0 {
            self.busy = false;
            return None;
        }
        let p = self.cls[svc_class].pop_front().unwrap();
        self.rout[svc_class] += p.bits;
        Some(p.number)
    }

    /// The numbers of the packets dropped, in order.
    pub(crate) fn enque(&mut self, now: f64, prio: usize, bytes: u32, number: u64) -> Vec<u64> {
        let bits = 8.0 * f64::from(bytes);
        if self.set.meant {
            self.serve_in_theory(now);
        }
        self.cls[prio].push_back(Pkt { number, bits, ts: now });
        self.update_stats(now, bits);
        if !self.busy {
            for i in ALL {
                self.arrival[i] = 0.0;
                self.rin[i] = 0.0;
                self.rout[i] = 0.0;
                self.rout_th[i] = 0.0;
                self.last_rate_update[i] = None;
            }
            self.busy = true;
        }
        self.arv_accounting(now, prio, bits);
        if ALL.map(|i| self.cls[i].len()).sum::<usize>() > self.set.qlim {
            let loses = if self.set.rlc[prio] == -1.0
                && (self.set.alc[prio] == -1.0
                    || self.current_loss[prio] + bits / self.arrival[prio] <= self.set.alc[prio])
            {
                prio
            } else {
                self.pick_dropped_rlc()
            };
            self.drop(loses);
        }
        self.pkt_count += 1;
        self.enforce_wc();
        let absolute = ALL.clone().any(|i| self.set.adc[i] != -1.0 || self.set.arc[i] != -1.0);
        if absolute && !self.min_rates_needed(now) {
            self.assign_rate_drops_adc(now);
            self.adjust_rates_rdc(now);
            self.pkt_count = 0;
        } else if self.pkt_count >= self.set.sampling_period {
            self.adjust_rates_rdc(now);
            self.pkt_count = 0;
        }
        std::mem::take(&mut self.dropped)
    }

    /// The service that every backlogged class was due since the last event.
    fn serve_in_theory(&mut self, now: f64) {
        for i in ALL {
            if self.backlogged(i) {
                self.rout_th[i] += self.service_rate[i] * (now - self.last_event);
            }
        }
        self.last_event = now;
    }

    fn update_stats(&mut self, now: f64, bits: f64) {
        self.monitoring_window -= now - self.last_monitor_update;
        self.last_monitor_update = now;
        // Event times are whole nanoseconds: the constant compensates the rounding of their sums.
        if self.monitoring_window <= 1e-10 {
            self.sliding_arv_pkts = 1.0;
            self.sliding_inter = now - self.last_arrival;
            self.sliding_avg_pkt_size = bits;
            self.monitoring_window = 0.5;
        } else {
            self.sliding_arv_pkts += 1.0;
            let n = self.sliding_arv_pkts;
            self.sliding_inter = (now - self.last_arrival + self.sliding_inter * (n - 1.0)) / n;
            self.sliding_avg_pkt_size = (self.sliding_avg_pkt_size * (n - 1.0) + bits) / n;
        }
        self.last_arrival = now;
        self.util = self.sliding_avg_pkt_size / (self.sliding_inter * self.set.bandwidth);
    }

    fn arv_accounting(&mut self, now: f64, prio: usize, bits: f64) {
        self.arrival[prio] += bits;
        self.rin[prio] += bits;
        if let Some(last) = self.last_rate_update[prio]
            && !self.set.meant
        {
            self.rout_th[prio] += (now - last) * self.service_rate[prio];
        }
        self.last_rate_update[prio] = Some(now);
        for i in ALL {
            if self.arrival[i] > 0.0 {
                self.current_loss[i] = (self.arrival[i] - self.rin[i]) / self.arrival[i];
                self.min_drop[i] = f64::max(0.0, 1.0 - self.rin[i] / self.arrival[i]);
            } else {
                self.current_loss[i] = 0.0;
                self.min_drop[i] = 0.0;
            }
        }
    }

    fn drop(&mut self, prio: usize) {
        let p =
            if self.set.drop_front { self.cls[prio].pop_front() } else { self.cls[prio].pop_back() }.unwrap();
        self.rin[prio] -= p.bits;
        if self.set.meant {
            self.current_loss[prio] = (self.arrival[prio] - self.rin[prio]) / self.arrival[prio];
        } else {
            self.current_loss = self.min_drop;
            self.current_loss[prio] += p.bits / self.arrival[prio];
        }
        self.dropped.push(p.number);
    }

    fn defeats_alc(&self, i: usize) -> bool {
        self.current_loss[i] + self.victim(i).bits / self.arrival[i] > self.alc_of(i)
    }

    fn pick_dropped_rlc(&self) -> usize {
        let active: Vec<usize> = ALL.filter(|i| self.backlogged(*i) && self.set.rlc[*i] != -1.0).collect();
        let mut class_dropped = 0;
        if !active.is_empty() {
            let weighted = |i: usize| self.loss_prod_others[i] * self.current_loss[i];
            let mut mean = 0.0;
            for i in &active {
                mean += weighted(*i);
            }
            mean /= active.len() as f64;
            let mut max_error = 0.0;
            for i in active {
                if weighted(i) - mean <= max_error {
                    max_error = weighted(i) - mean;
                    class_dropped = i;
                }
            }
            if class_dropped != 0 && self.defeats_alc(class_dropped) {
                class_dropped = 0;
            }
        }
        if class_dropped == 0 {
            let mut max_alc = f64::NEG_INFINITY;
            for i in ALL {
                if self.backlogged(i) && (!self.set.meant || self.alc_of(i) - self.current_loss[i] >= max_alc)
                {
                    max_alc = self.alc_of(i) - self.current_loss[i];
                    class_dropped = i;
                }
            }
        }
        class_dropped
    }

    fn enforce_wc(&mut self) {
        let active = ALL.filter(|i| self.backlogged(*i)).count();
        let updated = ALL.clone().any(|i| {
            (self.backlogged(i) && self.service_rate[i] <= PRECISION_ERROR)
                || (!self.backlogged(i) && self.service_rate[i] > PRECISION_ERROR)
        });
        if updated {
            for i in ALL {
                self.service_rate[i] =
                    if self.backlogged(i) { self.set.bandwidth / active as f64 } else { 0.0 };
            }
        }
    }

    fn min_rates_needed(&mut self, now: f64) -> bool {
        let mut result = true;
        for i in ALL {
            if self.backlogged(i) && (self.set.adc[i] != -1.0 || self.set.arc[i] != -1.0) {
                self.min_rate[i] = self.set.arc[i].max(0.0);
                if self.set.adc[i] != -1.0 {
                    let left = self.set.adc[i] - self.waited(i, now);
                    let needed = if left > 0.0 { self.backlog_bits(i) / left } else { f64::INFINITY };
                    self.min_rate[i] = self.min_rate[i].max(needed);
                }
                if self.min_rate[i] > self.service_rate[i] + PRECISION_ERROR {
                    result = false;
                }
            } else {
                self.min_rate[i] = 0.0;
            }
        }
        result
    }

    fn assign_rate_drops_adc(&mut self, now: f64) {
        let mut n = [0.0; NO_CLASSES + 1];
        let mut k = [0.0; NO_CLASSES + 1];
        let mut c = [0.0; NO_CLASSES + 1];
        let mut available = self.service_rate;
        for i in ALL {
            if !self.backlogged(i) {
                continue;
            }
            n[i] = self.service_rate[i];
            k[i] = self.backlog_bits(i);
            if self.set.adc[i] != -1.0 {
                c[i] = f64::max(self.set.adc[i] - self.waited(i, now), 1e-10);
                available[i] = -(k[i] / c[i] - n[i]);
            }
            if self.set.arc[i] != -1.0 && n[i] - self.set.arc[i] < available[i] {
                available[i] = n[i] - self.set.arc[i];
            }
        }
        let (mut highest, mut lowest) = (1, NO_CLASSES);
        loop {
            while highest <= NO_CLASSES && available[highest] >= -PRECISION_ERROR {
                highest += 1;
            }
            while lowest > 0 && available[lowest] <= 0.0 {
                lowest -= 1;
            }
            if highest > NO_CLASSES || lowest == 0 {
                break;
            }
            let sum = available[lowest] + available[highest];
            let moved = if sum >= 0.0 { -available[highest] } else { available[lowest] };
            n[lowest] -= moved;
            n[highest] += moved;
            available[lowest] = if sum > 0.0 { available[lowest] - moved } else { 0.0 };
            available[highest] = if sum >= 0.0 { 0.0 } else { available[highest] + moved };
        }
        let rates: PerClass<f64> =
            std::array::from_fn(|i| if i > 0 && self.backlogged(i) { n[i] } else { 0.0 });
        if highest <= NO_CLASSES && self.set.shared_pain {
            let mut to_drop = 0.0;
            for i in ALL {
                if available[i] < -PRECISION_ERROR && self.set.adc[i] != -1.0 && self.backlogged(i) {
                    to_drop += k[i] - c[i] * n[i];
                }
            }
            while to_drop > 0.0 && ALL.clone().any(|i| self.backlogged(i)) {
                let victim_class = self.pick_dropped_rlc();
                if self.defeats_alc(victim_class) {
                    break;
                }
                to_drop -= self.victim(victim_class).bits;
                self.drop(victim_class);
            }
        } else if highest <= NO_CLASSES {
            let mut keep_going = true;
            for i in ALL {
                if available[i] < -PRECISION_ERROR && self.backlogged(i) && self.set.adc[i] != -1.0 {
                    keep_going |= self.set.meant;
                    while self.backlogged(i) && self.backlog_bits(i) > c[i] * n[i] && keep_going {
                        if self.defeats_alc(i) {
                            keep_going = false;
                        } else {
                            self.drop(i);
                        }
                    }
                    k[i] = self.backlog_bits(i);
                }
            }
        }
        for i in ALL {
            self.min_rate[i] = 0.0;
            if self.backlogged(i) && self.set.arc[i] != -1.0 {
                self.min_rate[i] = n[i];
            } else if self.backlogged(i) && self.set.adc[i] != -1.0 {
                self.min_rate[i] = k[i] / c[i];
                if self.set.meant {
                    self.min_rate[i] = f64::min(self.backlog_bits(i) / c[i], n[i]);
                }
            }
        }
        self.service_rate = rates;
    }

    fn adjust_rates_rdc(&mut self, now: f64) {
        let concerned = self.set.rdc.map(|factor| factor != -1.0);
        let mut upper_bound = self.set.bandwidth;
        let mut active_classes = 0;
        for i in ALL {
            if self.backlogged(i) {
                active_classes += 1;
                if !concerned[i] {
                    upper_bound -= self.service_rate[i];
                }
            }
        }
        if upper_bound < PRECISION_ERROR || active_classes == 0 {
            return;
        }
        self.update_error(now);
        let mut bk = 0.0;
        for i in ALL {
            if concerned[i] {
                bk += self.rin[i];
            }
        }
        let mut min_share = 1.0;
        for i in ALL {
            if self.rin[i] / bk < min_share {
                min_share = self.rin[i] / bk;
            }
        }
        let kp_dynamic =
            self.kp_static * upper_bound.powi(2) * min_share * self.util * f64::max(self.util, 1.0);
        let mut result = [0.0; NO_CLASSES + 1];
        let mut lower_bound = 0.0;
        for i in ALL {
            if self.backlogged(i) && concerned[i] {
                result[i] = kp_dynamic * self.error[i];
                lower_bound += f64::max(0.0, self.min_rate[i]);
            }
        }
        let mut credit = 0.0;
        for i in ALL {
            if concerned[i] && result[i] + self.service_rate[i] > upper_bound + PRECISION_ERROR {
                for j in ALL {
                    if concerned[j] {
                        result[j] = -self.service_rate[j] + self.min_rate[j];
                        if j == i {
                            result[j] += upper_bound - lower_bound;
                        }
                    }
                }
                credit = 0.0;
                break;
            }
            if concerned[i] && result[i] + self.service_rate[i] < self.min_rate[i] {
                credit += self.service_rate[i] + result[i] - self.min_rate[i];
                result[i] = -self.service_rate[i] + self.min_rate[i];
            }
        }
        for i in ALL.rev() {
            if credit < 0.0 && self.backlogged(i) && concerned[i] {
                let available = result[i] + self.service_rate[i] - self.min_rate[i];
                if available >= -credit {
                    result[i] += credit;
                    credit = 0.0;
                } else {
                    result[i] -= available;
                    credit += available;
                }
            }
        }
        for i in ALL {
            self.service_rate[i] += result[i];
        }
    }

    fn update_error(&mut self, now: f64) {
        let mut mean_weighted_delay = 0.0;
        let mut active_classes = 0.0;
        for i in ALL {
            if self.backlogged(i) && self.set.rdc[i] != -1.0 {
                mean_weighted_delay += self.prod_others[i] * self.waited(i, now);
                active_classes += 1.0;
            }
        }
        mean_weighted_delay /= active_classes;
        for i in ALL {
            self.error[i] = if self.backlogged(i) && self.set.rdc[i] != -1.0 {
                mean_weighted_delay - self.prod_others[i] * self.waited(i, now)
            } else {
                0.0
            };
        }
    }
}
