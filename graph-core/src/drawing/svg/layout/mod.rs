//! Lays a picture out in ranks, one below the other, so that most arrows lead down.
//!
//! Positions have two axes: `across` runs along a rank, `along` from one rank to the next. The direction of the drawing
//! is applied later.

mod order;
mod place;
mod ranks;

use order::order;
use place::{place_across, place_along};
use ranks::{ranks, reversed};

/// The size of a vertex or a label.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Size {
    pub(crate) across: f64,
    pub(crate) along: f64,
}

/// The middle of a vertex or a label.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Point {
    pub(crate) across: f64,
    pub(crate) along: f64,
}

/// An arrow to be placed, with the size of its label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connection {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) label: Option<Size>,
}

#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// The middle of each vertex.
    pub(crate) places: Vec<Point>,
    /// For each line, the points it passes, in its own direction.
    pub(crate) bends: Vec<Vec<Point>>,
    /// For each line, the middle of its label.
    pub(crate) labels: Vec<Option<Point>>,
    pub(crate) size: Size,
}

/// The number of passes that improve the layout.
const SWEEPS: usize = 12;

/// A position in a rank: a vertex, a label, or a point that a line passes through.
struct Slot {
    size: Size,
    rank: usize,
    across: f64,
    above: Vec<usize>,
    below: Vec<usize>,
}

/// The middle of a rank, and half its height.
#[derive(Clone, Copy, Debug, Default)]
struct Rank {
    middle: f64,
    half: f64,
}

pub(crate) fn layout(sizes: &[Size], lines: &[Connection]) -> Layout {
    let reversed = reversed(sizes.len(), lines);
    let ranks = ranks(sizes.len(), lines, &reversed);
    let slot =
        |size: Size, rank: usize| Slot { size, rank, across: 0.0, above: Vec::new(), below: Vec::new() };
    let mut slots: Vec<Slot> = sizes.iter().zip(&ranks).map(|(size, rank)| slot(*size, *rank)).collect();
    // The slots that each line passes, from its upper to its lower end.
    let mut paths: Vec<Vec<usize>> = Vec::new();
    let mut labelled: Vec<Option<usize>> = Vec::new();
    for (line, reversed) in lines.iter().zip(&reversed) {
        let (upper, lower) = if *reversed { (line.to, line.from) } else { (line.from, line.to) };
        let (Some(&first), Some(&last)) = (ranks.get(upper), ranks.get(lower)) else { continue };
        let mut path = Vec::new();
        let mut before = upper;
        // Labels stand next to the vertex that a line leaves: a route's label belongs to its decision.
        let middle = if *reversed { last.saturating_sub(1) } else { first + 1 };
        let mut label = None;
        for rank in first + 1..last {
            let is_label = line.label.is_some() && rank == middle;
            let size = line.label.filter(|_| is_label).unwrap_or_default();
            slots.push(slot(size, rank));
            let here = slots.len() - 1;
            if is_label {
                label = Some(here);
            }
            connect(&mut slots, before, here);
            path.push(here);
            before = here;
        }
        if upper != lower {
            connect(&mut slots, before, lower);
        }
        paths.push(path);
        labelled.push(label);
    }
    let mut rows = rows(&slots);
    order(&mut rows, &slots);
    place_across(&rows, &mut slots);
    let (along, total) = place_along(&rows, &slots);
    let at = |slot: usize| {
        let (across, rank) = slots.get(slot).map_or((0.0, 0), |slot| (slot.across, slot.rank));
        (across, along.get(rank).copied().unwrap_or_default())
    };
    let place = |slot: usize| {
        let (across, rank) = at(slot);
        Point { across, along: rank.middle }
    };
    // Inside a rank a line is straight; it moves sideways only between ranks.
    let (before, after) = (-1.0, 1.0);
    let edge = |slot: usize, side: f64| {
        let (across, rank) = at(slot);
        Point { across, along: rank.middle + side * rank.half }
    };
    let bends = paths.iter().zip(lines).zip(&reversed).map(|((path, line), reversed)| {
        let (upper, lower) = if *reversed { (line.to, line.from) } else { (line.from, line.to) };
        let through = path.iter().filter(|&&slot| at(slot).1.half > 0.0);
        let through = through.flat_map(|&slot| [edge(slot, before), edge(slot, after)]);
        let (first, last) = (edge(upper, after), edge(lower, before));
        let mut points: Vec<Point> = std::iter::once(first).chain(through).chain([last]).collect();
        if *reversed {
            points.reverse();
        }
        points
    });
    let across = slots.iter().map(|slot| slot.across + slot.size.across / 2.0).fold(0.0, f64::max);
    Layout {
        bends: bends.collect(),
        labels: labelled.into_iter().map(|label| label.map(&place)).collect(),
        places: (0..sizes.len()).map(place).collect(),
        size: Size { across, along: total },
    }
}

fn connect(slots: &mut [Slot], upper: usize, lower: usize) {
    if let Some(slot) = slots.get_mut(upper) {
        slot.below.push(lower);
    }
    if let Some(slot) = slots.get_mut(lower) {
        slot.above.push(upper);
    }
}

fn rows(slots: &[Slot]) -> Vec<Vec<usize>> {
    let count = slots.iter().map(|slot| slot.rank + 1).max().unwrap_or_default();
    let mut rows = vec![Vec::new(); count];
    for (index, slot) in slots.iter().enumerate() {
        if let Some(row) = rows.get_mut(slot.rank) {
            row.push(index);
        }
    }
    rows
}

#[expect(clippy::cast_precision_loss, reason = "a picture has few vertices")]
fn as_float(count: usize) -> f64 {
    count as f64
}
