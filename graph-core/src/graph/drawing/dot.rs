use std::fmt::Write as _;

use crate::graph::Direction;

use super::sketch::{Kind, Sketch, Spot, Stroke};

/// A picture in Graphviz' dot language.
pub(super) fn dot(sketch: &Sketch, title: Option<&str>, direction: Direction) -> String {
    let sketch = &*sketch.shown();
    let mut out = format!("digraph {} {{\n", quoted(&sketch.name));
    if let Some(title) = title {
        let _ = writeln!(out, "    label={};\n    labelloc=t;", quoted(title));
    }
    if direction != Direction::TopToBottom {
        let _ = writeln!(out, "    rankdir={};", direction.letters("TB"));
    }
    if sketch.spots.iter().any(|spot| spot.inner.is_some()) {
        out.push_str("    compound=true;\n");
    }
    draw(sketch, "", 1, &mut out);
    out.push_str("}\n");
    out
}

fn draw(sketch: &Sketch, within: &str, depth: usize, out: &mut String) {
    let pad = "    ".repeat(depth);
    for spot in &sketch.spots {
        let id = format!("{within}{}", spot.id);
        match &spot.inner {
            Some(inner) => {
                let _ =
                    writeln!(out, "{pad}subgraph cluster_{id} {{\n{pad}    label={};", quoted(&spot.label));
                if let Some(mark) = spot.mark {
                    let (fill, line) = mark.colours();
                    let _ = writeln!(out, "{pad}    style=filled;\n{pad}    fillcolor={:?};", fill);
                    let _ = writeln!(out, "{pad}    color={line:?};");
                }
                draw(inner, &format!("{id}_"), depth + 1, out);
                let _ = writeln!(out, "{pad}}}");
            }
            None => {
                let _ = writeln!(out, "{pad}{id} [{}];", looks(spot));
            }
        }
        for (index, note) in spot.notes.iter().enumerate() {
            let _ = writeln!(out, "{pad}{id}_note{index} [label={}, shape=note];", quoted(note));
            let (place, cut) = end_of(spot, within, Kind::Start, "lhead");
            let cut = cut.map(|cut| format!(", {cut}")).unwrap_or_default();
            let _ = writeln!(out, "{pad}{id}_note{index} -> {place} [style=dotted, arrowhead=none{cut}];");
        }
    }
    for arrow in &sketch.arrows {
        let (Some(from), Some(to)) = (sketch.spots.get(arrow.from), sketch.spots.get(arrow.to)) else {
            continue;
        };
        let (from, tail) = end_of(from, within, Kind::End, "ltail");
        let (to, head) = end_of(to, within, Kind::Start, "lhead");
        let style = match arrow.stroke {
            Stroke::Edge => None,
            Stroke::Route => Some("style=dashed".to_owned()),
            Stroke::Packet => Some("style=bold".to_owned()),
        };
        let label = arrow.label.as_ref().map(|label| format!("label={}", quoted(label)));
        let looks: Vec<String> = [label, style, tail, head].into_iter().flatten().collect();
        let _ = if looks.is_empty() {
            writeln!(out, "{pad}{from} -> {to};")
        } else {
            writeln!(out, "{pad}{from} -> {to} [{}];", looks.join(", "))
        };
    }
}

/// Where an arrow ends: at a spot, or at one inside of it, cut off at its border.
fn end_of(spot: &Spot, within: &str, at: Kind, cut: &str) -> (String, Option<String>) {
    let id = format!("{within}{}", spot.id);
    let inside = spot.inner.as_ref().and_then(|inner| {
        let there = inner.spots.iter().find(|spot| spot.kind == at).or_else(|| inner.spots.last())?;
        Some(end_of(there, &format!("{id}_"), at, cut).0)
    });
    match inside {
        Some(inside) => (inside, Some(format!("{cut}=cluster_{id}"))),
        None => (id, None),
    }
}

fn looks(spot: &Spot) -> String {
    let shape = match spot.kind {
        Kind::Start | Kind::End | Kind::Deferred => "oval",
        Kind::Join => "circle",
        Kind::Node => "box",
    };
    // START is what it is called.
    let label =
        if spot.id == spot.label { String::new() } else { format!("label={}, ", quoted(&spot.label)) };
    let mark = spot.mark.map(|mark| {
        let (fill, line) = mark.colours();
        format!(", style=filled, fillcolor={fill:?}, color={line:?}")
    });
    format!("{label}shape={shape}{}", mark.unwrap_or_default())
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
