//! Draws a picture as a self-contained SVG image, without scripts, fonts or other files. Its colours are readable on
//! light and dark pages.

mod arrow;
mod layout;
mod text;

use std::fmt::Write as _;

use crate::drawing::direction::Direction;

use super::diagram::{Diagram, Kind, Vertex};
use super::look::Look;
use arrow::{SELF_LOOP, draw_arrow, route_path, self_loop};
use layout::{Connection, Point, Size, layout};
use text::{escaped, width};

const LINE: f64 = 16.0;
const MARGIN: f64 = 12.0;
/// The padding around a nested picture.
const INSIDE: f64 = 14.0;

/// Each rule applies only inside the picture, because the page may use the same class names.
const STYLE: [(&str, &str); 12] = [
    ("text", "font:13px system-ui,sans-serif;fill:#1f2933;text-anchor:middle"),
    (".n", "fill:#eef2f7;stroke:#66788f"),
    (".d", "stroke-width:2.5"),
    (".c", "fill:#66788f;fill-opacity:.1;stroke:#66788f"),
    (".t", "fill:#737373;font-weight:600"),
    (".s", "font-size:11px;font-style:italic"),
    (".k", "font-size:11px"),
    (".l", "fill:#dfe5ec"),
    (".e", "fill:none;stroke:#737373;stroke-width:1.3"),
    (".r", "stroke-dasharray:5 4"),
    (".p", "stroke-width:3"),
    (".a", "fill:#737373"),
];

/// A drawn picture and its size.
struct Drawing {
    body: String,
    width: f64,
    height: f64,
}

pub(crate) fn svg(diagram: &Diagram, look: &Look) -> String {
    let diagram = &*diagram.shown();
    let title = look.title.as_deref();
    let drawing = draw(diagram, look.direction);
    let head = if title.is_some() { LINE + MARGIN } else { 0.0 };
    let wide = title.map_or(0.0, width).max(drawing.width);
    let (across, down) = (wide + 2.0 * MARGIN, drawing.height + 2.0 * MARGIN + head);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {across:.0} {down:.0}\" width=\"{across:.0}\" \
         height=\"{down:.0}\" class=\"graph-picture\" role=\"img\" aria-label=\"{}\">",
        escaped(title.unwrap_or(&diagram.name))
    );
    let _ = writeln!(out, "<title>{}</title>", escaped(title.unwrap_or(&diagram.name)));
    out.push_str("<style>\n");
    for (selector, style) in STYLE {
        let _ = writeln!(out, ".graph-picture {selector}{{{style}}}");
    }
    for mark in diagram.marks() {
        let (class, style) = (mark.class(), look.of(mark));
        let _ =
            write!(out, ".graph-picture .{class}{{stroke-width:{}", style.get("stroke-width").unwrap_or("2"));
        for (property, value) in
            style.iter().filter(|(property, _)| !["color", "stroke-width"].contains(property))
        {
            let _ = write!(out, ";{property}:{value}");
        }
        out.push_str("}\n");
        // A marked cluster is a tint of its line colour, which leaves text readable on light and dark pages.
        if let Some(line) = style.get("stroke") {
            let _ = writeln!(out, ".graph-picture .m.{class}{{fill:{line};fill-opacity:.06}}");
        }
        if let Some(color) = style.text() {
            let _ = writeln!(out, ".graph-picture .{class}:not(.m)~text{{fill:{color}}}");
        }
    }
    out.push_str("</style>\n");
    out.push_str(
        "<defs><marker id=\"graph-arrow\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" \
         markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"a\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n",
    );
    if let Some(title) = title {
        let _ = writeln!(
            out,
            "<text class=\"t\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            across / 2.0,
            MARGIN + 12.0,
            escaped(title)
        );
    }
    let left = MARGIN + (wide - drawing.width) / 2.0;
    let _ = writeln!(
        out,
        "<g transform=\"translate({left:.1} {:.1})\">\n{}</g>\n</svg>",
        MARGIN + head,
        drawing.body
    );
    out
}

/// A vertex with its size and contents.
struct Frame<'s> {
    vertex: &'s Vertex,
    label: String,
    notes: Vec<&'s str>,
    width: f64,
    height: f64,
    inner: Option<Drawing>,
}

fn frame(vertex: &Vertex, direction: Direction) -> Frame<'_> {
    let label = vertex.signed_label();
    let notes: Vec<&str> = vertex.notes.iter().flat_map(|note| note.lines()).collect();
    let inner = vertex.inner.as_ref().map(|inner| draw(inner, direction));
    // The heading of a cluster is bold.
    let heading = width(&label) * if inner.is_some() { 1.08 } else { 1.0 };
    let text_width = notes.iter().map(|note| width(note) * 0.85).fold(heading, f64::max);
    #[expect(clippy::cast_precision_loss, reason = "a node has few notes")]
    let lines = 18.0 + LINE * (1 + notes.len()) as f64;
    let (width, height) = match (&inner, vertex.kind) {
        (Some(inner), _) => {
            ((text_width + 24.0).max(inner.width + 2.0 * INSIDE), inner.height + 2.0 * INSIDE + lines - 18.0)
        }
        (None, Kind::Join) => (24.0, 24.0),
        (None, Kind::Start | Kind::End) => (text_width + 26.0, 28.0),
        (None, Kind::Deferred) => (text_width + 36.0, lines),
        (None, Kind::Node) => ((text_width + 24.0).max(48.0), lines),
    };
    Frame { vertex, label, notes, width, height, inner }
}

fn draw(diagram: &Diagram, direction: Direction) -> Drawing {
    let boxes: Vec<Frame<'_>> = diagram.vertices.iter().map(|vertex| frame(vertex, direction)).collect();
    let size = |width: f64, height: f64| match direction.is_upright() {
        true => Size { across: width, along: height },
        false => Size { across: height, along: width },
    };
    let label_size = |label: &String| size(width(label) * 0.85 + 10.0, LINE);
    let loops = |vertex: usize| {
        let own = diagram.arrows.iter().filter(move |arrow| arrow.from == vertex && arrow.to == vertex);
        own.map(|arrow| SELF_LOOP + arrow.label.as_ref().map_or(0.0, |label| label_size(label).across))
            .fold(0.0, f64::max)
    };
    let sizes: Vec<Size> = boxes
        .iter()
        .enumerate()
        .map(|(index, each)| {
            let size = size(each.width, each.height);
            Size { across: size.across + 2.0 * loops(index), ..size }
        })
        .collect();
    let lines: Vec<Connection> = diagram
        .arrows
        .iter()
        .map(|arrow| Connection {
            from: arrow.from,
            to: arrow.to,
            label: arrow.label.as_ref().map(label_size),
        })
        .collect();
    let laid = layout(&sizes, &lines);
    let map = |point: Point| match direction {
        Direction::TopToBottom => (point.across, point.along),
        Direction::BottomToTop => (point.across, laid.size.along - point.along),
        Direction::LeftToRight => (point.along, point.across),
        Direction::RightToLeft => (laid.size.along - point.along, point.across),
    };
    let mut body = String::new();
    let place = |vertex: usize| laid.places.get(vertex).copied().unwrap_or_default();
    for (each, at) in boxes.iter().zip(&laid.places) {
        vertex(each, map(*at), &mut body);
    }
    for (index, arrow) in diagram.arrows.iter().enumerate() {
        let half = |vertex: usize| {
            boxes.get(vertex).map_or_else(Size::default, |found| size(found.width / 2.0, found.height / 2.0))
        };
        let bends = laid.bends.get(index).map_or(&[][..], Vec::as_slice);
        let (from, to) = (place(arrow.from), place(arrow.to));
        let (path, middle) = if arrow.from == arrow.to {
            self_loop(from, half(arrow.from))
        } else {
            route_path((from, half(arrow.from).along), bends, (to, half(arrow.to).along))
        };
        let label = arrow.label.as_ref().map(label_size).filter(|_| arrow.from == arrow.to);
        let middle = label
            .map_or(middle, |label| Point { across: middle.across + label.across / 2.0 + 4.0, ..middle });
        let middle = laid.labels.get(index).copied().flatten().unwrap_or(middle);
        draw_arrow(arrow, &path.into_iter().map(map).collect::<Vec<_>>(), map(middle), &mut body);
    }
    let (width, height) = match direction.is_upright() {
        true => (laid.size.across, laid.size.along),
        false => (laid.size.along, laid.size.across),
    };
    Drawing { body, width, height }
}

fn vertex(each: &Frame<'_>, (x, y): (f64, f64), out: &mut String) {
    let Frame { vertex, label, notes, width, height, inner } = each;
    let (left, top) = (x - width / 2.0, y - height / 2.0);
    let mark = vertex.mark.map_or("", |mark| mark.class());
    let class = match (vertex.mark, inner, vertex.kind) {
        // A tint keeps marks inside visible.
        (Some(_), Some(_), _) => format!("m {mark}"),
        (Some(_), ..) => mark.to_owned(),
        (None, Some(_), _) => "c".to_owned(),
        (None, None, Kind::Deferred) => "n d".to_owned(),
        (None, None, _) => "n".to_owned(),
    };
    let round = match vertex.kind {
        _ if inner.is_some() => 8.0,
        Kind::Node => 5.0,
        Kind::Start | Kind::End | Kind::Deferred | Kind::Join => height / 2.0,
    };
    out.push_str("<g>");
    if let Some(mark) = vertex.mark {
        let _ = write!(out, "<title>{}: {}</title>", escaped(&vertex.label), mark.class());
    }
    let _ = write!(
        out,
        "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{round:.1}\"/>"
    );
    // The label of a cluster stands on the page's background.
    let heading = if inner.is_some() { " class=\"t\"" } else { "" };
    let mut at = match vertex.kind {
        _ if inner.is_some() => top + 18.0,
        Kind::Node | Kind::Deferred => top + 9.0 + 12.0,
        Kind::Start | Kind::End | Kind::Join => y + 4.5,
    };
    let _ = write!(out, "<text{heading} x=\"{x:.1}\" y=\"{at:.1}\">{}</text>", escaped(label));
    for note in notes {
        at += LINE;
        let _ = write!(out, "<text class=\"s\" x=\"{x:.1}\" y=\"{at:.1}\">{}</text>", escaped(note));
    }
    out.push_str("</g>\n");
    if let Some(inner) = inner {
        let (left, top) = (x - inner.width / 2.0, top + height - INSIDE - inner.height);
        let _ = writeln!(out, "<g transform=\"translate({left:.1} {top:.1})\">\n{}</g>", inner.body);
    }
}
