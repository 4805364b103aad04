use superstep::GraphState;

fn even(number: &u32) -> Result<(), String> {
    if number % 2 == 0 { Ok(()) } else { Err("odd".to_owned()) }
}

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(validate(length(min = 1)))]
    count: u8,
    #[state(validate(range(max = 1)))]
    text: String,
    #[state(validate(ascii))]
    list: Vec<String>,
    #[state(validate(inner(length(min = 1))))]
    numbers: Vec<u8>,
    #[state(validate(custom(even)))]
    odd: String,
    #[state(validate(required))]
    there: u8,
}

fn main() {}
// mistakes: 6
