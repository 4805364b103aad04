use superstep::machine::Machine;

#[derive(Machine)]
#[machine(nodes(A, other::A, B = "A", C = "END", &str), ouput = u8, state = 1)]
struct Several<T>(T);

#[derive(Machine)]
enum None {
    A,
}

#[derive(Machine)]
#[machine(nodes(), nodes(A), output)]
struct Twice;

fn main() {}
// mistakes: 11
