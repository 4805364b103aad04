//! Nested diagrams.

use expect_test::expect;

use crate::drawing::{Arrow, ArrowKind, Diagram, Direction, Kind, Look, Mark, Vertex};

use super::{dot, mermaid, svg};

fn vertex(id: &str, label: &str, kind: Kind) -> Vertex {
    Vertex { id: id.to_owned(), label: label.to_owned(), kind, mark: None, notes: Vec::new(), inner: None }
}

fn edge(from: usize, to: usize) -> Arrow {
    Arrow { from, to, label: None, kind: ArrowKind::Edge }
}

/// A graph with one node, which is the graph `inner`.
fn graph_of(name: &str, inner: Option<Diagram>) -> Diagram {
    let mut vertices = vec![
        vertex("START", "START", Kind::Start),
        vertex("n0", name, Kind::Node),
        vertex("FINISH", "END", Kind::End),
    ];
    if let Some(inner) = inner {
        vertices[1].inner = Some(inner);
    }
    Diagram { starts: None, name: format!("graph of {name}"), vertices, arrows: vec![edge(0, 1), edge(1, 2)] }
}

fn titled() -> Look {
    Look { title: Some("a title".to_owned()), ..Look::default() }
}

fn nested() -> Diagram {
    let mut innermost = graph_of("say <it> & \"go\"", None);
    innermost.vertices[1].mark = Some(Mark::Waiting);
    innermost.vertices[1].notes.push("twice\nat most".to_owned());
    graph_of("outer", Some(graph_of("inner", Some(innermost))))
}

#[test]
fn mermaid_nests_subgraphs() {
    expect![[r#"
        flowchart LR
            START([START])
            subgraph n0["outer"]
                direction LR
                n0_START([START])
                subgraph n0_n0["inner"]
                    direction LR
                    n0_n0_START([START])
                    n0_n0_n0["? say #60;it#62; #38; #34;go#34;"]
                    n0_n0_FINISH([END])
                    n0_n0_START --> n0_n0_n0
                    n0_n0_n0 --> n0_n0_FINISH
                    n0_n0_n0_note0>"twice<br/>at most"]
                    n0_n0_n0_note0 -.- n0_n0_n0
                end
                n0_FINISH([END])
                n0_START --> n0_n0
                n0_n0 --> n0_FINISH
            end
            FINISH([END])
            START --> n0
            n0 --> FINISH
            classDef waiting fill:#dcd3ff,stroke:#6b46c1,color:#1f2933
            class n0_n0_n0 waiting
    "#]]
    .assert_eq(&mermaid::mermaid(&nested(), &Look { direction: Direction::LeftToRight, ..Look::default() }));
}

#[test]
fn dot_nests_clusters_and_clips_arrows() {
    expect![[r##"
        digraph "graph of outer" {
            label="a title";
            labelloc=t;
            compound=true;
            START [shape=oval];
            subgraph cluster_n0 {
                label="outer";
                n0_START [label="START", shape=oval];
                subgraph cluster_n0_n0 {
                    label="inner";
                    n0_n0_START [label="START", shape=oval];
                    n0_n0_n0 [label="? say <it> & \"go\"", shape=box, style=filled, fillcolor="#dcd3ff", color="#6b46c1"];
                    n0_n0_n0_note0 [label="twice
        at most", shape=note];
                    n0_n0_n0_note0 -> n0_n0_n0 [style=dotted, arrowhead=none];
                    n0_n0_FINISH [label="END", shape=oval];
                    n0_n0_START -> n0_n0_n0;
                    n0_n0_n0 -> n0_n0_FINISH;
                }
                n0_FINISH [label="END", shape=oval];
                n0_START -> n0_n0_START [lhead=cluster_n0_n0];
                n0_n0_FINISH -> n0_FINISH [ltail=cluster_n0_n0];
            }
            FINISH [label="END", shape=oval];
            START -> n0_START [lhead=cluster_n0];
            n0_FINISH -> FINISH [ltail=cluster_n0];
        }
    "##]].assert_eq(&dot::dot(&nested(), &titled()));
}

#[test]
fn svg_nests_boxes() {
    expect![[r#"
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 230 569" width="230" height="569" class="graph-picture" role="img" aria-label="a title">
        <title>a title</title>
        <style>
        .graph-picture text{font:13px system-ui,sans-serif;fill:#1f2933;text-anchor:middle}
        .graph-picture .n{fill:#eef2f7;stroke:#66788f}
        .graph-picture .d{stroke-width:2.5}
        .graph-picture .c{fill:#66788f;fill-opacity:.1;stroke:#66788f}
        .graph-picture .t{fill:#737373;font-weight:600}
        .graph-picture .s{font-size:11px;font-style:italic}
        .graph-picture .k{font-size:11px}
        .graph-picture .l{fill:#dfe5ec}
        .graph-picture .e{fill:none;stroke:#737373;stroke-width:1.3}
        .graph-picture .r{stroke-dasharray:5 4}
        .graph-picture .p{stroke-width:3}
        .graph-picture .a{fill:#737373}
        .graph-picture .waiting{stroke-width:2;fill:#dcd3ff;stroke:#6b46c1}
        .graph-picture .m.waiting{fill:#6b46c1;fill-opacity:.06}
        </style>
        <defs><marker id="graph-arrow" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path class="a" d="M0 0L8 4L0 8z"/></marker></defs>
        <text class="t" x="114.9" y="24.0">a title</text>
        <g transform="translate(12.0 40.0)">
        <g><rect class="n" x="66.9" y="0.0" width="72.0" height="28.0" rx="14.0"/><text x="102.9" y="18.5">START</text></g>
        <g><rect class="c" x="0.0" y="60.5" width="205.8" height="396.0" rx="8.0"/><text class="t" x="102.9" y="78.5">outer</text></g>
        <g transform="translate(14.0 90.5)">
        <g><rect class="n" x="52.9" y="0.0" width="72.0" height="28.0" rx="14.0"/><text x="88.9" y="18.5">START</text></g>
        <g><rect class="c" x="0.0" y="60.5" width="177.8" height="231.0" rx="8.0"/><text class="t" x="88.9" y="78.5">inner</text></g>
        <g transform="translate(14.0 90.5)">
        <g><rect class="n" x="38.9" y="0.0" width="72.0" height="28.0" rx="14.0"/><text x="74.9" y="18.5">START</text></g>
        <g><title>say &lt;it&gt; &amp; &quot;go&quot;: waiting</title><rect class="waiting" x="0.0" y="60.5" width="149.8" height="66.0" rx="5.0"/><text x="74.9" y="81.5">? say &lt;it&gt; &amp; &quot;go&quot;</text><text class="s" x="74.9" y="97.5">twice</text><text class="s" x="74.9" y="113.5">at most</text></g>
        <g><rect class="n" x="48.1" y="159.0" width="53.6" height="28.0" rx="14.0"/><text x="74.9" y="177.5">END</text></g>
        <path class="e" marker-end="url(#graph-arrow)" d="M74.9 28.0C74.9 54.0 74.9 34.5 74.9 60.5"/>
        <path class="e" marker-end="url(#graph-arrow)" d="M74.9 126.5C74.9 152.5 74.9 133.0 74.9 159.0"/>
        </g>
        <g><rect class="n" x="62.1" y="324.0" width="53.6" height="28.0" rx="14.0"/><text x="88.9" y="342.5">END</text></g>
        <path class="e" marker-end="url(#graph-arrow)" d="M88.9 28.0C88.9 54.0 88.9 34.5 88.9 60.5"/>
        <path class="e" marker-end="url(#graph-arrow)" d="M88.9 291.5C88.9 317.5 88.9 298.0 88.9 324.0"/>
        </g>
        <g><rect class="n" x="76.1" y="489.0" width="53.6" height="28.0" rx="14.0"/><text x="102.9" y="507.5">END</text></g>
        <path class="e" marker-end="url(#graph-arrow)" d="M102.9 28.0C102.9 54.0 102.9 34.5 102.9 60.5"/>
        <path class="e" marker-end="url(#graph-arrow)" d="M102.9 456.5C102.9 482.5 102.9 463.0 102.9 489.0"/>
        </g>
        </svg>
    "#]].assert_eq(&svg::svg(&nested(), &titled()));
}

#[test]
fn line_avoids_a_high_neighbour() {
    // START leads to the high first node and to a second one beside it.
    let mut diagram = graph_of("high", Some(graph_of("so wide that END is below it", None)));
    diagram.vertices.push(vertex("n1", "beside", Kind::Node));
    diagram.arrows = vec![edge(0, 1), edge(1, 2), edge(0, 3), edge(3, 2)];
    let drawn = svg::svg(&diagram, &Look::default());
    let number = |text: &str, after: &str| -> f64 {
        let rest = text.split_once(after).unwrap().1;
        rest.split(|c: char| c != '.' && !c.is_ascii_digit()).next().unwrap().parse().unwrap()
    };
    let cluster = drawn.lines().find(|line| line.contains(">high</text>")).unwrap();
    let (left, top) = (number(cluster, "x=\""), number(cluster, " y=\""));
    let (right, bottom) = (left + number(cluster, " width=\""), top + number(cluster, " height=\""));
    // The outer lines come last.
    let paths: Vec<&str> = drawn.lines().filter(|line| line.starts_with("<path")).collect();
    let from_beside = paths.last().unwrap().split_once("d=\"M").unwrap().1;
    let numbers: Vec<f64> = from_beside
        .split(|c: char| c != '.' && !c.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .collect();
    for point in numbers.chunks(2) {
        let inside = (left..=right).contains(&point[0]) && point[1] > top && point[1] < bottom;
        assert!(!inside, "{point:?} is in {left} {top} {right} {bottom}: {from_beside}");
    }
}

#[test]
fn marked_cluster_is_drawn_as_a_tint() {
    let mut diagram = nested();
    diagram.vertices[1].mark = Some(Mark::Failed);
    let drawn = svg::svg(&diagram, &Look::default());
    assert!(drawn.contains(".graph-picture .m.failed{fill:#c53030;fill-opacity:.06}"), "{drawn}");
    assert!(drawn.contains(r#"<title>outer: failed</title><rect class="m failed""#), "{drawn}");
    assert!(drawn.contains(r#"<text class="t""#) && drawn.contains("! outer"), "{drawn}");
    let drawn = mermaid::mermaid(&diagram, &Look::default());
    assert!(
        drawn.contains("class n0 failed\n    style n0 fill:#c53030,fill-opacity:0.06,color:#737373"),
        "{drawn}"
    );
    let drawn = dot::dot(&diagram, &Look::default());
    assert!(drawn.contains("fillcolor=\"#ffcaca4d\""), "{drawn}");
}
