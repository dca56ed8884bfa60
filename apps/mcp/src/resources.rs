//! Memories as resources: `memory://project/deploys.md`.

use crate::operations::{Project, word};
use crate::refusal::CallRefusal;
use everfold_memory_store::StoreScope;
use everfold_memory_store::store::TopicHead;
use rmcp::model::{Annotations, Resource, ResourceTemplate};

/// What the address of every memory starts with.
pub(crate) const SCHEME: &str = "memory://";
const MARKDOWN: &str = "text/markdown";

/// One page of all memories, newest first within each scope, and whether more
/// follow.
pub(crate) fn page(
    project: &Project,
    offset: usize,
    size: usize,
) -> Result<(Vec<Resource>, bool), CallRefusal> {
    let mut all = Vec::new();
    for scope in [StoreScope::Project, StoreScope::Global] {
        let store = project.host.memories().existing(scope)?;
        let Some(store) = store else { continue };
        let topics = store.scan(usize::MAX)?;
        all.extend(topics.into_iter().map(|topic| (scope, topic)));
    }
    let more = all.len() > offset.saturating_add(size);
    let page = all.into_iter().skip(offset).take(size);
    Ok((page.map(|(scope, topic)| resource(scope, topic)).collect(), more))
}

fn resource(scope: StoreScope, topic: TopicHead) -> Resource {
    let uri = format!("{SCHEME}{}/{}", word(scope), topic.path);
    let mut resource = Resource::new(uri, topic.path.as_str()).with_mime_type(MARKDOWN);
    resource = resource.with_size(topic.bytes);
    if let Some(title) = topic.front.name {
        resource = resource.with_title(title);
    }
    if let Some(description) = topic.front.description {
        resource = resource.with_description(description);
    }
    let mut about = Annotations::default();
    about.last_modified = topic.modified.to_string().parse().ok();
    resource.with_annotations(about)
}

/// How addresses are made.
pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{SCHEME}{{scope}}/{{+path}}"), "memory")
        .with_title("A memory")
        .with_description("scope is project or global; path is the file, such as deploys.md")
        .with_mime_type(MARKDOWN)
}
