//! A machine is drawn as a graph is: notes, labels, highlighted nodes, a direction.

use expect_test::expect;
use graph_core::END;
use graph_core::graph::Direction;
use graph_core::machine::Machine;

use crate::fives::{DivisibleBy5, Fives, Increment};
use crate::shop::{Leave, Look, Shop};

#[test]
fn its_edges_are_the_return_types_of_its_nodes() {
    expect![[r#"
        flowchart TD
            n0["DivisibleBy5"]
            n1["Increment"]
            FINISH([END])
            n0 ==> n1
            n0 -.-> FINISH
            n1 ==> n0
    "#]]
    .assert_eq(&Fives::compile().unwrap().to_mermaid());
    expect![[r#"
        digraph "Fives" {
            n0 [label="DivisibleBy5", shape=box];
            n1 [label="Increment", shape=box];
            FINISH [label="END", shape=oval];
            n0 -> n1 [style=bold];
            n0 -> FINISH [style=dashed];
            n1 -> n0 [style=bold];
        }
    "#]]
    .assert_eq(&Fives::compile().unwrap().to_dot());
}

#[test]
fn a_picture_has_what_it_is_asked_for() {
    let (check, increment) = (Fives::node::<DivisibleBy5>(), Fives::node::<Increment>());
    let picture = Fives::compile()
        .unwrap()
        .mermaid()
        .title("counting \"up\"")
        .direction(Direction::LeftToRight)
        .start(check)
        .edge_label(check, increment, "not yet")
        .edge_label(check, END, "at last")
        .note(increment, "adds 1\n& <no more>")
        .highlight(check)
        .highlight_named(["Increment", "DivisibleBy5"])
        .draw();
    expect![[r#"
        ---
        title: "counting \"up\""
        ---
        flowchart LR
            START([START])
            n0["DivisibleBy5"]
            n1["Increment"]
            FINISH([END])
            START ==> n0
            n0 == "not yet" ==> n1
            n0 -. "at last" .-> FINISH
            n1 ==> n0
            note0>"adds 1<br/>#38; #60;no more#62;"]
            note0 -.- n1
            classDef highlighted fill:#fdff32
            class n0 highlighted
            class n1 highlighted
    "#]]
    .assert_eq(&picture.unwrap());

    let plain =
        Fives::compile().unwrap().mermaid().edge_label(check, END, "at last").without_edge_labels().draw();
    assert_eq!(plain.unwrap(), Fives::compile().unwrap().to_mermaid());
}

#[test]
fn everything_that_a_picture_cannot_show_is_said_at_once() {
    let shop = Shop::compile().unwrap();
    let (look, leave) = (Shop::node::<Look>(), Shop::node::<Leave>());
    let error =
        shop.mermaid().edge_label(look, END, "a").edge_label(leave, look, "b").highlight_named(["x"]).draw();
    assert_eq!(
        error.unwrap_err().to_string(),
        "graph `Shop`: cannot be drawn like this: there is no node `x`; nothing leads from `Look` to `END`; \
         nothing leads from `leave` to `Look`"
    );
}
