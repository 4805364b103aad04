use superstep::StateView;

struct Ticket {
    question: String,
}

#[derive(StateView)]
#[view(of = Ticket)]
struct Question<'a> {
    question: &'a str,
}

fn main() {
    let _ = Question::of(&Ticket { question: String::new() }).question;
}
