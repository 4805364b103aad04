//! Paths of arrows from the border of one vertex to that of another.

use std::fmt::Write as _;

use crate::drawing::diagram::{Arrow, ArrowKind};

use super::LINE;
use super::layout::{Point, Size};
use super::text::{escaped, width};

/// The width of an arrow that leads back to its own vertex.
pub(crate) const SELF_LOOP: f64 = 26.0;

/// Returns the points of a path (the first, then three for each curve) between the borders of two vertices, through
/// `bends`, and its middle.
pub(crate) fn route_path(from: (Point, f64), bends: &[Point], to: (Point, f64)) -> (Vec<Point>, Point) {
    let next = bends.first().copied().unwrap_or(to.0);
    let last = bends.last().copied().unwrap_or(from.0);
    let border = |at: Point, half: f64, towards: Point| {
        let along = if towards.along >= at.along { at.along + half } else { at.along - half };
        Point { along, ..at }
    };
    let mut before = border(from.0, from.1, next);
    let end = border(to.0, to.1, last);
    let mut path = vec![before];
    for point in bends.iter().copied().chain([end]) {
        // The largest vertex of a rank ends at the rank's border.
        if (point.across - before.across).abs() + (point.along - before.along).abs() < 0.1 {
            continue;
        }
        // Each curve begins and ends straight, so that the arrow head is straight too.
        let on = (point.along - before.along) * 0.8;
        path.extend([
            Point { along: before.along + on, ..before },
            Point { along: point.along - on, ..point },
            point,
        ]);
        before = point;
    }
    (
        path,
        Point {
            across: f64::midpoint(from.0.across, to.0.across),
            along: f64::midpoint(from.0.along, to.0.along),
        },
    )
}

/// Returns the path and the middle of an arrow from a vertex to itself.
pub(crate) fn self_loop(at: Point, half: Size) -> (Vec<Point>, Point) {
    let side = at.across + half.across;
    let point = |across: f64, along: f64| Point { across, along: at.along + along };
    (
        vec![
            point(side, -7.0),
            point(side + SELF_LOOP, -14.0),
            point(side + SELF_LOOP, 14.0),
            point(side, 7.0),
        ],
        point(side + SELF_LOOP - 8.0, 0.0),
    )
}

pub(crate) fn draw_arrow(arrow: &Arrow, path: &[(f64, f64)], middle: (f64, f64), out: &mut String) {
    let class = match arrow.kind {
        ArrowKind::Edge => "e",
        ArrowKind::Route => "e r",
        ArrowKind::Packet => "e p",
    };
    let mut points = path.iter();
    let _ = write!(out, "<path class=\"{class}\" marker-end=\"url(#graph-arrow)\" d=\"");
    if let Some((x, y)) = points.next() {
        let _ = write!(out, "M{x:.1} {y:.1}");
    }
    for (index, (x, y)) in points.enumerate() {
        let _ = write!(out, "{}{x:.1} {y:.1}", if index % 3 == 0 { "C" } else { " " });
    }
    out.push_str("\"/>\n");
    if let Some(label) = &arrow.label {
        let (wide, (x, y)) = (width(label) * 0.85 + 10.0, middle);
        let _ = writeln!(
            out,
            "<rect class=\"l\" x=\"{:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"{LINE:.0}\" rx=\"4\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" class=\"k\">{}</text>",
            x - wide / 2.0,
            y - LINE / 2.0,
            y + 4.0,
            escaped(label)
        );
    }
}
