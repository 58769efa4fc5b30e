//! Stock tantivy over the same sections: BM25, its default tokenizer, the same stored fields fetched.

use botmesh_index::page::Page;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, TermQuery};
use tantivy::schema::{IndexRecordOption, STORED, STRING, Schema, TEXT, Value};
use tantivy::{TantivyDocument, Term};

/// An index in memory.
pub(crate) struct Stock {
    searcher: tantivy::Searcher,
    heading: tantivy::schema::Field,
    text: tantivy::schema::Field,
    index: tantivy::Index,
}

impl Stock {
    pub(crate) fn build(pages: &[Page]) -> Self {
        let mut schema = Schema::builder();
        let path = schema.add_text_field("path", STRING | STORED);
        let title = schema.add_text_field("title", STORED);
        let heading = schema.add_text_field("heading", TEXT | STORED);
        let text = schema.add_text_field("text", TEXT | STORED);
        let index = tantivy::Index::create_in_ram(schema.build());
        let mut writer = index.writer_with_num_threads::<TantivyDocument>(1, 256 << 20).unwrap();
        for page in pages {
            for section in &page.sections {
                let mut document = TantivyDocument::default();
                document.add_text(path, &page.path);
                document.add_text(title, &page.title);
                document.add_text(heading, &section.heading);
                document.add_text(text, &section.text);
                writer.add_document(document).unwrap();
            }
        }
        writer.commit().unwrap();
        Self { searcher: index.reader().unwrap().searcher(), heading, text, index }
    }

    pub(crate) fn search(&self, query: &str) -> usize {
        let mut analyzer = self.index.tokenizer_for_field(self.text).unwrap();
        let mut stream = analyzer.token_stream(query);
        let mut clauses: Vec<(Occur, Box<dyn tantivy::query::Query>)> = Vec::new();
        while let Some(token) = stream.next() {
            for field in [self.heading, self.text] {
                let term = Term::from_field_text(field, &token.text);
                clauses.push((
                    Occur::Should,
                    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)),
                ));
            }
        }
        let top = self
            .searcher
            .search(&BooleanQuery::new(clauses), &TopDocs::with_limit(8).order_by_score())
            .unwrap();
        top.iter()
            .map(|(_, address)| {
                let document: TantivyDocument = self.searcher.doc(*address).unwrap();
                document
                    .field_values()
                    .filter_map(|(_, value)| value.as_str().map(str::len))
                    .sum::<usize>()
            })
            .sum()
    }
}
