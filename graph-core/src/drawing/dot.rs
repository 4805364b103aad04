use std::fmt::Write as _;

use super::diagram::{ArrowKind, Diagram, Kind, Mark, Vertex};
use super::direction::Direction;
use super::look::Look;

/// Draws a picture in the dot language of Graphviz.
pub(crate) fn dot(diagram: &Diagram, look: &Look) -> String {
    let diagram = &*diagram.shown();
    let mut out = format!("digraph {} {{\n", quoted(&diagram.name));
    if let Some(title) = &look.title {
        let _ = writeln!(out, "    label={};\n    labelloc=t;", quoted(title));
    }
    if look.direction != Direction::TopToBottom {
        let _ = writeln!(out, "    rankdir={};", look.direction.letters("TB"));
    }
    if diagram.vertices.iter().any(|vertex| vertex.inner.is_some()) {
        out.push_str("    compound=true;\n");
    }
    draw(diagram, "", 1, look, &mut out);
    out.push_str("}\n");
    out
}

fn draw(diagram: &Diagram, prefix: &str, depth: usize, look: &Look, out: &mut String) {
    let pad = "    ".repeat(depth);
    for vertex in &diagram.vertices {
        let id = format!("{prefix}{}", vertex.id);
        match &vertex.inner {
            Some(inner) => {
                let _ = writeln!(
                    out,
                    "{pad}subgraph cluster_{id} {{\n{pad}    label={};",
                    quoted(&vertex.signed_label())
                );
                for attribute in vertex.mark.map(|mark| filled(mark, look, true)).unwrap_or_default() {
                    let _ = writeln!(out, "{pad}    {attribute};");
                }
                draw(inner, &format!("{id}_"), depth + 1, look, out);
                let _ = writeln!(out, "{pad}}}");
            }
            None => {
                let _ = writeln!(out, "{pad}{id} [{}];", looks(vertex, &id, look));
            }
        }
        for (index, note) in vertex.notes.iter().enumerate() {
            let _ = writeln!(out, "{pad}{id}_note{index} [label={}, shape=note];", quoted(note));
            let (place, cut) = end_of(vertex, prefix, Kind::Start, "lhead");
            let cut = cut.map(|cut| format!(", {cut}")).unwrap_or_default();
            let _ = writeln!(out, "{pad}{id}_note{index} -> {place} [style=dotted, arrowhead=none{cut}];");
        }
    }
    for arrow in &diagram.arrows {
        let (Some(from), Some(to)) = (diagram.vertices.get(arrow.from), diagram.vertices.get(arrow.to))
        else {
            continue;
        };
        let (from, tail) = end_of(from, prefix, Kind::End, "ltail");
        let (to, head) = end_of(to, prefix, Kind::Start, "lhead");
        let style = match arrow.kind {
            ArrowKind::Edge => None,
            ArrowKind::Route => Some("style=dashed".to_owned()),
            ArrowKind::Packet => Some("style=bold".to_owned()),
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

/// Returns the end of an arrow: a vertex, or for a cluster a vertex inside it, with the attribute that cuts the arrow off
/// at the border.
fn end_of(vertex: &Vertex, prefix: &str, at: Kind, cut: &str) -> (String, Option<String>) {
    let id = format!("{prefix}{}", vertex.id);
    let inside = vertex.inner.as_ref().and_then(|inner| {
        let there =
            inner.vertices.iter().find(|vertex| vertex.kind == at).or_else(|| inner.vertices.last())?;
        Some(end_of(there, &format!("{id}_"), at, cut).0)
    });
    match inside {
        Some(inside) => (inside, Some(format!("{cut}=cluster_{id}"))),
        None => (id, None),
    }
}

fn looks(vertex: &Vertex, id: &str, look: &Look) -> String {
    let shape = match vertex.kind {
        Kind::Start | Kind::End | Kind::Deferred => "oval",
        Kind::Join => "circle",
        Kind::Node => "box",
    };
    // An id that equals its label, such as START, needs none.
    let shown = vertex.signed_label();
    let label = if id == shown { String::new() } else { format!("label={}, ", quoted(&shown)) };
    let mut looks = format!("{label}shape={shape}");
    for attribute in vertex.mark.map(|mark| filled(mark, look, false)).unwrap_or_default() {
        let _ = write!(looks, ", {attribute}");
    }
    looks
}

/// Returns the attributes of a mark.
fn filled(mark: Mark, look: &Look, is_cluster: bool) -> Vec<String> {
    let style = look.of(mark);
    // Marks inside a marked cluster stay visible on a tint. Only hexadecimal colours can be made one.
    let fill = style.get("fill").map(|fill| match fill.starts_with('#') && fill.len() == 7 && is_cluster {
        true => format!("{fill}4d"),
        false => fill.to_owned(),
    });
    let attributes = [
        ("fillcolor", fill.as_deref()),
        ("color", style.get("stroke")),
        ("fontcolor", style.text().filter(|_| !is_cluster)),
        ("penwidth", style.get("stroke-width")),
    ];
    let attributes =
        attributes.into_iter().filter_map(|(attribute, value)| Some(format!("{attribute}={:?}", value?)));
    std::iter::once("style=filled".to_owned()).chain(attributes).collect()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
