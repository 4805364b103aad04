use superstep::machine::Machine;

#[derive(Machine)]
#[machine(nodes("Check"), output = i64)]
struct Fives;

fn main() {}
