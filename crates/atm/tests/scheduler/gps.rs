//! Generalised processor sharing (GPS), computed directly: what is left of each unit, from one event to the next. It knows
//! no virtual time and shares no code with the schedulers.
//!
//! Work is counted in units of 2^-64 ps of the link's time with a fraction of 256 bits, rounded down: after a million events
//! the error is below 2^-200 of such a unit.

use std::collections::VecDeque;

const LIMBS: usize = 6;

/// Work, in units of 2^-64 ps: 128 bits and 256 bits of a fraction, the lowest limb first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Work([u64; LIMBS]);

impl Work {
    pub(crate) fn new(whole: u128) -> Self {
        let mut limbs = [0; LIMBS];
        (limbs[LIMBS - 2], limbs[LIMBS - 1]) = (whole as u64, (whole >> 64) as u64);
        Self(limbs)
    }

    /// Rounded up.
    pub(crate) fn ceil(self) -> u128 {
        let whole = u128::from(self.0[LIMBS - 2]) | u128::from(self.0[LIMBS - 1]) << 64;
        whole + u128::from(self.0[..LIMBS - 2].iter().any(|&limb| limb > 0))
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let (mut sum, mut carry) = ([0; LIMBS], 0);
        for (place, limb) in sum.iter_mut().enumerate() {
            let wide = u128::from(self.0[place]) + u128::from(other.0[place]) + carry;
            (*limb, carry) = (wide as u64, wide >> 64);
        }
        assert_eq!(carry, 0, "the run is too long");
        Self(sum)
    }

    /// Zero where `other` is more.
    pub(crate) fn minus(self, other: Self) -> Self {
        let (mut difference, mut borrow) = ([0; LIMBS], false);
        for (place, limb) in difference.iter_mut().enumerate() {
            let (first, under) = self.0[place].overflowing_sub(other.0[place]);
            let (second, again) = first.overflowing_sub(u64::from(borrow));
            (*limb, borrow) = (second, under || again);
        }
        if borrow { Self::default() } else { Self(difference) }
    }

    /// This times `numerator` over `denominator`, rounded down.
    fn times(self, numerator: u64, denominator: u64) -> Self {
        let (mut product, mut carry) = ([0; LIMBS + 1], 0);
        for (place, limb) in self.0.into_iter().enumerate() {
            let wide = u128::from(limb) * u128::from(numerator) + carry;
            (product[place], carry) = (wide as u64, wide >> 64);
        }
        product[LIMBS] = carry as u64;
        let (mut quotient, mut rest) = ([0; LIMBS], 0);
        for place in (0..=LIMBS).rev() {
            let wide = rest << 64 | u128::from(product[place]);
            let digit = (wide / u128::from(denominator)) as u64;
            rest = wide % u128::from(denominator);
            match quotient.get_mut(place) {
                Some(limb) => *limb = digit,
                None => assert_eq!(digit, 0, "the run is too long"),
            }
        }
        Self(quotient)
    }
}

impl PartialOrd for Work {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Work {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

/// A unit in the fluid system.
#[derive(Debug, Clone, Copy)]
struct Unit {
    number: usize,
    left: Work,
}

/// The fluid system. Its clock is the work that the link has done.
#[derive(Debug, Clone)]
pub(crate) struct Gps {
    weights: Vec<u64>,
    queues: Vec<VecDeque<Unit>>,
    now: Work,
    /// When each unit ended, by number.
    pub(crate) ends: Vec<Option<Work>>,
}

impl Gps {
    pub(crate) fn new(weights: &[u32]) -> Self {
        Self {
            weights: weights.iter().map(|&weight| weight.into()).collect(),
            queues: vec![VecDeque::new(); weights.len()],
            now: Work::default(),
            ends: Vec::new(),
        }
    }

    /// A unit arrives; units are numbered in the order of their arrival.
    pub(crate) fn arrive(&mut self, vc: u32, number: usize, work: u128) {
        assert_eq!(number, self.ends.len());
        self.ends.push(None);
        self.queues[vc as usize].push_back(Unit { number, left: Work::new(work) });
    }

    /// Serves until the clock shows `now`, or nothing is left.
    pub(crate) fn serve_until(&mut self, now: u128) {
        self.work(Work::new(now).minus(self.now), true);
        self.now = Work::new(now);
    }

    /// The unit of `vc` with that number is pushed out or dropped. What the fluid system did for it, it does at once for the next ones of the
    /// VC, and for the others if there are none; returns how much that is, rounded up.
    pub(crate) fn withdraw(&mut self, vc: u32, number: usize, work: u128) -> u128 {
        let queue = &mut self.queues[vc as usize];
        let left = queue.iter().find(|unit| unit.number == number).map_or(Work::default(), |unit| unit.left);
        queue.retain(|unit| unit.number != number);
        let done = Work::new(work).minus(left);
        self.ends[number] = None;
        let mut rest = done;
        while rest > Work::default()
            && let Some(head) = queue.front_mut()
        {
            let step = rest.min(head.left);
            (rest, head.left) = (rest.minus(step), head.left.minus(step));
            if head.left == Work::default() {
                let unit = queue.pop_front().expect("the VC is busy");
                self.ends[unit.number] = Some(self.now);
            }
        }
        self.work(rest, false);
        done.ceil()
    }

    /// What is left of all units, rounded up.
    pub(crate) fn backlog(&self) -> u128 {
        self.queues.iter().flatten().fold(Work::default(), |sum, unit| sum.plus(unit.left)).ceil()
    }

    /// Does `left` work, from the end of one unit to the end of the next; the clock runs with it or stands.
    fn work(&mut self, mut left: Work, clock: bool) {
        loop {
            let busy = || (0..self.weights.len()).filter(|&vc| !self.queues[vc].is_empty());
            let sum: u64 = busy().map(|vc| self.weights[vc]).sum();
            let until_end = |vc: usize| self.queues[vc][0].left.times(sum, self.weights[vc]);
            let Some((end, first)) = busy().map(|vc| (until_end(vc), vc)).min() else { return };
            let step = end.min(left);
            let busy: Vec<usize> = busy().collect();
            for vc in busy {
                let head = &mut self.queues[vc][0];
                head.left = head.left.minus(step.times(self.weights[vc], sum));
            }
            if clock {
                self.now = self.now.plus(step);
            }
            if end > left {
                return;
            }
            left = left.minus(step);
            let unit = self.queues[first].pop_front().expect("the VC is busy");
            self.ends[unit.number] = Some(self.now);
        }
    }
}
