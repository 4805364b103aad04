use std::fmt::Write as _;

use crate::graph::Direction;

use super::look::Look;
use super::sketch::{Kind, Mark, Sketch, Spot, Stroke};

/// Draws a picture in the dot language of Graphviz.
pub(super) fn dot(sketch: &Sketch, look: &Look) -> String {
    let sketch = &*sketch.shown();
    let mut out = format!("digraph {} {{\n", quoted(&sketch.name));
    if let Some(title) = &look.title {
        let _ = writeln!(out, "    label={};\n    labelloc=t;", quoted(title));
    }
    if look.direction != Direction::TopToBottom {
        let _ = writeln!(out, "    rankdir={};", look.direction.letters("TB"));
    }
    if sketch.spots.iter().any(|spot| spot.inner.is_some()) {
        out.push_str("    compound=true;\n");
    }
    draw(sketch, "", 1, look, &mut out);
    out.push_str("}\n");
    out
}

fn draw(sketch: &Sketch, within: &str, depth: usize, look: &Look, out: &mut String) {
    let pad = "    ".repeat(depth);
    for spot in &sketch.spots {
        let id = format!("{within}{}", spot.id);
        match &spot.inner {
            Some(inner) => {
                let _ =
                    writeln!(out, "{pad}subgraph cluster_{id} {{\n{pad}    label={};", quoted(&spot.label));
                for attribute in spot.mark.map(|mark| filled(mark, look, true)).unwrap_or_default() {
                    let _ = writeln!(out, "{pad}    {attribute};");
                }
                draw(inner, &format!("{id}_"), depth + 1, look, out);
                let _ = writeln!(out, "{pad}}}");
            }
            None => {
                let _ = writeln!(out, "{pad}{id} [{}];", looks(spot, &id, look));
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

/// Returns the end of an arrow: a spot, or for a cluster a spot inside it, with the attribute that cuts the arrow off
/// at the border.
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

fn looks(spot: &Spot, id: &str, look: &Look) -> String {
    let shape = match spot.kind {
        Kind::Start | Kind::End | Kind::Deferred => "oval",
        Kind::Join => "circle",
        Kind::Node => "box",
    };
    // An id that equals its label, such as START, needs none.
    let label = if id == spot.label { String::new() } else { format!("label={}, ", quoted(&spot.label)) };
    let mut looks = format!("{label}shape={shape}");
    for attribute in spot.mark.map(|mark| filled(mark, look, false)).unwrap_or_default() {
        let _ = write!(looks, ", {attribute}");
    }
    looks
}

/// Returns the attributes of a mark.
fn filled(mark: Mark, look: &Look, around: bool) -> Vec<String> {
    let style = look.of(mark);
    // Marks inside a marked cluster stay visible on a tint. Only hexadecimal colours can be made one.
    let fill = style.get("fill").map(|fill| match fill.starts_with('#') && fill.len() == 7 && around {
        true => format!("{fill}4d"),
        false => fill.to_owned(),
    });
    let said = [
        ("fillcolor", fill.as_deref()),
        ("color", style.get("stroke")),
        ("fontcolor", style.text().filter(|_| !around)),
        ("penwidth", style.get("stroke-width")),
    ];
    let said = said.into_iter().filter_map(|(attribute, value)| Some(format!("{attribute}={:?}", value?)));
    std::iter::once("style=filled".to_owned()).chain(said).collect()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
