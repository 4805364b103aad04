use std::fmt::Write as _;

use super::diagram::{ArrowKind, Diagram, Kind};
use super::direction::Direction;
use super::look::Look;

/// Draws a picture as a Mermaid flowchart.
pub(crate) fn mermaid(diagram: &Diagram, look: &Look) -> String {
    let diagram = &*diagram.shown();
    let mut out = String::new();
    if let Some(title) = &look.title {
        let _ = writeln!(out, "---\ntitle: {}\n---", serde_json::Value::from(title.as_str()));
    }
    let _ = writeln!(out, "flowchart {}", look.direction.letters("TD"));
    draw(diagram, "", 1, look.direction, &mut out);
    for mark in diagram.marks() {
        let style = look.of(mark);
        let style: Vec<String> =
            style.iter().map(|(property, value)| format!("{property}:{value}")).collect();
        let _ = writeln!(out, "    classDef {} {}", mark.class(), style.join(","));
    }
    classes(diagram, "", look, &mut out);
    out
}

/// Readable on light and dark pages.
const GREY: &str = "#737373";

/// Every id begins with `prefix`, the path of the enclosing vertices.
fn draw(diagram: &Diagram, prefix: &str, depth: usize, direction: Direction, out: &mut String) {
    let pad = "    ".repeat(depth);
    for vertex in &diagram.vertices {
        let (id, label) = (format!("{prefix}{}", vertex.id), quoted(&vertex.signed_label()));
        let _ = match (&vertex.inner, vertex.kind) {
            (Some(inner), _) => {
                let _ = writeln!(out, "{pad}subgraph {id}[\"{label}\"]");
                let _ = writeln!(out, "{pad}    direction {}", direction.letters("TB"));
                draw(inner, &format!("{id}_"), depth + 1, direction, out);
                writeln!(out, "{pad}end")
            }
            (None, Kind::Start | Kind::End) if vertex.mark.is_none() => writeln!(out, "{pad}{id}([{label}])"),
            (None, Kind::Deferred | Kind::Start | Kind::End) => writeln!(out, "{pad}{id}([\"{label}\"])"),
            (None, Kind::Join) => writeln!(out, "{pad}{id}((\"{label}\"))"),
            (None, Kind::Node) => writeln!(out, "{pad}{id}[\"{label}\"]"),
        };
    }
    let id = |vertex: usize| diagram.vertices.get(vertex).map_or("", |vertex| &vertex.id);
    for arrow in &diagram.arrows {
        let (open, close) = match arrow.kind {
            ArrowKind::Edge => ("--", "-->"),
            ArrowKind::Route => ("-.", ".->"),
            ArrowKind::Packet => ("==", "==>"),
        };
        let (from, to) = (id(arrow.from), id(arrow.to));
        let _ = match (&arrow.label, arrow.kind) {
            (Some(label), _) => {
                writeln!(out, "{pad}{prefix}{from} {open} \"{}\" {close} {prefix}{to}", quoted(label))
            }
            // Without a label, a dotted arrow is one token.
            (None, ArrowKind::Route) => writeln!(out, "{pad}{prefix}{from} -.-> {prefix}{to}"),
            (None, _) => writeln!(out, "{pad}{prefix}{from} {close} {prefix}{to}"),
        };
    }
    for vertex in &diagram.vertices {
        for (index, note) in vertex.notes.iter().enumerate() {
            let id = format!("{prefix}{}", vertex.id);
            let lines: Vec<String> = note.lines().map(quoted).collect();
            let _ = writeln!(out, "{pad}{id}_note{index}>\"{}\"]", lines.join("<br/>"));
            let _ = writeln!(out, "{pad}{id}_note{index} -.- {id}");
        }
    }
}

fn classes(diagram: &Diagram, prefix: &str, look: &Look, out: &mut String) {
    for vertex in &diagram.vertices {
        if let Some(mark) = vertex.mark {
            let _ = writeln!(out, "    class {prefix}{} {}", vertex.id, mark.class());
            // Marks inside stay visible on a tint, in every theme.
            if let Some(line) = look.of(mark).get("stroke").filter(|_| vertex.inner.is_some()) {
                let tint = format!("fill:{line},fill-opacity:0.06,color:{GREY}");
                let _ = writeln!(out, "    style {prefix}{} {tint}", vertex.id);
            }
        }
        if let Some(inner) = &vertex.inner {
            classes(inner, &format!("{prefix}{}_", vertex.id), look, out);
        }
    }
}

/// Escapes a label. A leading backtick would make it Markdown, and a line may look like a comment or a directive.
fn quoted(text: &str) -> String {
    let escaped = |c: char| matches!(c, '#' | '&' | '"' | '<' | '>' | '`' | '%' | ';') || c.is_control();
    text.chars().map(|c| if escaped(c) { format!("#{};", u32::from(c)) } else { c.into() }).collect()
}
