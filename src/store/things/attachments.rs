//! The bytes of images that came with messages, of pictures of campaigns, and of those of the
//! screen, each kept once.

use std::collections::HashMap;

use serde_json::json;
use sqlx::query;

use crate::domain::{Image, ImageType, ToolCallId};
use crate::facts::ScreenPictured;
use crate::store::{Lease, Store, StoreError, Theirs, Unit, word};

/// An image on its way in.
#[derive(Clone, PartialEq, Eq)]
pub struct NewImage {
    /// The facts that are recorded about it.
    pub image: Image,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for NewImage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.image.fmt(f)
    }
}

impl Theirs {
    /// An image by its sha256; `None` if no message that their conversations show has it, and no
    /// artifact of their campaigns.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn attachment(&self, sha256: &str) -> Result<Option<(ImageType, Vec<u8>)>, StoreError> {
        let row = query!(
            "SELECT media_type, bytes FROM attachments WHERE sha256 = $1 AND (EXISTS (
                 SELECT FROM messages JOIN conversations USING (conversation_id)
                 WHERE images <> '[]' AND images @> $2 AND user_id = $3 AND turn_id > coalesce(anew_after, 0))
             OR EXISTS (
                 SELECT FROM artifacts a JOIN campaigns c ON c.id = a.campaign_id JOIN conversations USING (conversation_id)
                 WHERE a.artifact_type = 'picture' AND a.content = $1 AND user_id = $3))",
            sha256,
            json!([{ "sha256": sha256 }]),
            self.user.0
        );
        row.fetch_optional(&self.store.pool).await?.map(|row| Ok((word(&row.media_type)?, row.bytes))).transpose()
    }
}

impl Store {
    /// Several images by their sha256; missing ones are left out.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn attachments(&self, sha256: &[String]) -> Result<HashMap<String, Vec<u8>>, StoreError> {
        if sha256.is_empty() {
            return Ok(HashMap::new());
        }
        let rows = query!("SELECT sha256, bytes FROM attachments WHERE sha256 = ANY($1)", sha256);
        Ok(rows.fetch_all(&self.pool).await?.into_iter().map(|row| (row.sha256, row.bytes)).collect())
    }
}

impl Unit {
    /// Keeps the images of a message that is being accepted.
    pub(in crate::store) async fn keep_images(&mut self, images: &[NewImage]) -> Result<(), StoreError> {
        for NewImage { image, bytes } in images {
            query!(
                "INSERT INTO attachments (sha256, media_type, bytes, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
                image.sha256,
                image.media_type.as_str(),
                bytes,
                self.now
            )
            .execute(&mut *self.tx)
            .await?;
        }
        Ok(())
    }

    /// Has a picture of the screen kept as an attachment of the result of the call that took it.
    /// The result is there when the call ends, which is in this transaction.
    pub fn picture_screen(&mut self, NewImage { image, bytes }: NewImage) {
        self.pictured = Some((image, bytes));
    }

    /// Keeps the picture that a call took, if it took one. The call has ended.
    pub(in crate::store) async fn keep_pictured(&mut self, lease: &Lease, call: ToolCallId) -> Result<(), StoreError> {
        let Some((image, bytes)) = self.pictured.take() else { return Ok(()) };
        self.keep_images(&[NewImage { image: image.clone(), bytes }]).await?;
        let beside = query("UPDATE messages SET images = $2 WHERE tool_call_id = $1").bind(call.0).bind(json!([image]));
        beside.execute(&mut *self.tx).await?;
        self.append(lease.conversation, ScreenPictured { turn: lease.turn, call, image }.into()).await
    }
}
