//! Orders the slots of each rank.

use super::{SWEEPS, Slot, as_float};

/// Orders each row by the positions of its neighbours, alternating down and up, and keeps the order with the fewest
/// crossings.
pub(crate) fn order(rows: &mut Vec<Vec<usize>>, slots: &[Slot]) {
    let mut best = (crossings(rows, slots), rows.clone());
    for sweep in 0..SWEEPS {
        let down = sweep % 2 == 0;
        let mut position = positions(rows, slots.len());
        let count = rows.len();
        for step in 0..count {
            let index = if down { step } else { count - 1 - step };
            let Some(row) = rows.get_mut(index) else { continue };
            let middle = |slot: usize| {
                let slot = slots.get(slot)?;
                let near = if down { &slot.above } else { &slot.below };
                let sum: f64 = near.iter().filter_map(|&near| position.get(near)).sum();
                (!near.is_empty()).then(|| sum / as_float(near.len()))
            };
            let mut keyed: Vec<(f64, usize)> = row
                .iter()
                .map(|&slot| (middle(slot).or_else(|| position.get(slot).copied()).unwrap_or_default(), slot))
                .collect();
            keyed.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            *row = keyed.into_iter().map(|(_, slot)| slot).collect();
            for (place, &slot) in row.iter().enumerate() {
                if let Some(position) = position.get_mut(slot) {
                    *position = as_float(place);
                }
            }
        }
        let crossed = crossings(rows, slots);
        if crossed < best.0 {
            best = (crossed, rows.clone());
        }
    }
    *rows = best.1;
}

fn positions(rows: &[Vec<usize>], count: usize) -> Vec<f64> {
    let mut positions = vec![0.0; count];
    for row in rows {
        for (place, &slot) in row.iter().enumerate() {
            if let Some(position) = positions.get_mut(slot) {
                *position = as_float(place);
            }
        }
    }
    positions
}

fn crossings(rows: &[Vec<usize>], slots: &[Slot]) -> usize {
    let positions = positions(rows, slots.len());
    let at = |slot: usize| positions.get(slot).copied().unwrap_or_default();
    let mut count = 0;
    for row in rows {
        let below = |&slot: &usize| {
            slots.get(slot).map(|found| found.below.iter().map(move |&to| (at(slot), at(to))))
        };
        let lines: Vec<(f64, f64)> = row.iter().filter_map(below).flatten().collect();
        for (index, (from, to)) in lines.iter().enumerate() {
            count += lines.iter().skip(index + 1).filter(|(a, b)| (a - from) * (b - to) < 0.0).count();
        }
    }
    count
}
