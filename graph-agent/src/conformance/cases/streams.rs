//! Streams: their pieces and their packets.

use superstep::messages::{AiMessage, Block, ToolCall};

use crate::conformance::case::Provider;
use crate::conformance::expect::{check, replied, same};
use crate::conformance::{Broken, Delivery};

fn calls() -> AiMessage {
    (1..=4).fold(AiMessage::new("Let me see."), |message, number| {
        let text = format!("Straße {number} ").repeat(number);
        message
            .call(ToolCall::new(format!("call_{number}"), "find").arg("address", text).arg("number", number))
    })
}

pub(crate) async fn interleaved_pieces_reach_their_calls(provider: Provider<'_>) -> Result<(), Broken> {
    check(provider, &calls(), Delivery::Whole).await
}

pub(crate) async fn empty_pieces_change_nothing(provider: Provider<'_>) -> Result<(), Broken> {
    for reply in [AiMessage::new("Schöne Grüße 🦀"), AiMessage::new(""), calls()] {
        check(provider, &reply, Delivery::EmptyPieces).await?;
    }
    Ok(())
}

pub(crate) async fn packets_may_end_within_a_character(provider: Provider<'_>) -> Result<(), Broken> {
    for bytes in [1, 2, 3, 7, 1000] {
        for reply in [AiMessage::new("Schöne Grüße 🦀 漢字"), calls()] {
            check(provider, &reply, Delivery::Packets(bytes)).await?;
        }
    }
    Ok(())
}

pub(crate) async fn every_piece_of_text_can_be_shown(provider: Provider<'_>) -> Result<(), Broken> {
    let blocks = [Block::reasoning("Is it Größe?"), Block::from_text("Yes, it is.")];
    for reply in [AiMessage::new("Schöne Grüße 🦀"), AiMessage::new(blocks)] {
        let Some((_, chunks)) = replied(provider, &reply, Delivery::Whole).await? else { continue };
        let text: String = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
        same("the `text` of all chunks is the text of the reply", reply.content.text().as_ref(), &text)?;
    }
    Ok(())
}
