use superstep::GraphState;

#[derive(Clone, Default)]
struct Client;

#[derive(GraphState, Clone)]
struct Ticket {
    client: Client,
    clients: Option<Vec<Client>>,
    #[state(exclude)]
    hidden: Client,
}

fn node(ticket: &Ticket) -> TicketUpdate {
    Ticket::update().client(ticket.client.clone())
}

fn main() {}
// mistakes: 3
