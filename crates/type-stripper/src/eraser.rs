//! Finds what is only types.

use oxc_ast::ast::{
    AccessorProperty, ArrowFunctionExpression, Class, ClassElement, Declaration, ExportAllDeclaration,
    ExportDeclaration, ExportDefaultDeclaration, ExportDefaultDeclarationKind, ExportFromDeclaration,
    ExportNamedDeclaration, ExportSpecifier, FormalParameter, Function, ImportDeclaration,
    ImportDeclarationSpecifier, ImportOrExportKind, MethodDefinition, MethodDefinitionType,
    PropertyDefinition, PropertyDefinitionType, PropertyKey, Statement, TSAsExpression, TSEnumDeclaration,
    TSExportAssignment, TSImportEqualsDeclaration, TSNamespaceDeclaration, TSNonNullExpression,
    TSSatisfiesExpression, TSTypeAnnotation, TSTypeAssertion, TSTypeParameterDeclaration,
    TSTypeParameterInstantiation, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan as _, Span};
use oxc_syntax::scope::ScopeFlags;

use crate::blank::Blanks;

const ENUM: &str = "enumerations are not only types; use an object with `as const`";
const NAMESPACE: &str = "namespaces are not only types; use modules";
const PARAMETER_PROPERTY: &str =
    "parameter properties are not only types; assign the property in the constructor";
const IMPORT_EQUALS: &str = "`import … =` is not only types; use `import … from`";
const EXPORT_EQUALS: &str = "`export =` is not only types; use `export default`";
const ASSERTION: &str = "assertions in angle brackets cannot be stripped; use `as`";

/// Modifiers of class members that only the compiler reads.
const MODIFIERS: [&str; 7] =
    ["public", "private", "protected", "readonly", "override", "abstract", "declare"];

/// Modifiers of class members that stay.
const MODIFIERS_OF_JAVASCRIPT: [&str; 5] = ["get", "set", "static", "async", "accessor"];

/// Collects the ranges of types, and the first place with a meaning that stripping would lose.
pub(crate) struct Eraser<'s> {
    source: &'s str,
    blanks: Blanks,
    refused: Option<(u32, &'static str)>,
}

impl<'s> Eraser<'s> {
    pub(crate) fn new(source: &'s str) -> Self {
        Self { source, blanks: Blanks::default(), refused: None }
    }

    pub(crate) fn into_result(self) -> Result<Blanks, (u32, &'static str)> {
        self.refused.map_or(Ok(self.blanks), Err)
    }

    fn refuse(&mut self, span: Span, message: &'static str) {
        if self.refused.is_none_or(|(at, _)| span.start < at) {
            self.refused = Some((span.start, message));
        }
    }

    fn text(&self, start: u32, end: u32) -> &'s str {
        self.source.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Erases a statement or a class member. What is left is an empty one, which ends what stands before it.
    fn erase_statement(&mut self, span: Span) {
        self.blanks.add_span(span);
        self.blanks.write(span.start, ';');
    }

    /// Returns the place of the next character that is neither space nor part of a comment.
    fn next_token(&self, from: u32) -> u32 {
        let mut at = from as usize;
        let bytes = self.source.as_bytes();
        while at < bytes.len() {
            let rest = &self.source[at..];
            if rest.starts_with("//") {
                at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                at += rest.find("*/").map_or(rest.len(), |end| end + 2);
            } else if let Some(space) = rest.chars().next().filter(|character| character.is_whitespace()) {
                at += space.len_utf8();
            } else {
                break;
            }
        }
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    fn byte(&self, at: u32) -> Option<u8> {
        self.source.as_bytes().get(at as usize).copied()
    }

    /// Erases the mark `?` or `!` after a name, if it is there.
    fn erase_mark(&mut self, after: u32) {
        let at = self.next_token(after);
        if matches!(self.byte(at), Some(b'?' | b'!')) {
            self.blanks.add(at, at + 1);
        }
    }

    /// Erases one of several things in a list, with the comma after it.
    fn erase_item(&mut self, span: Span) {
        let next = self.next_token(span.end);
        let end = if self.byte(next) == Some(b',') { next + 1 } else { span.end };
        self.blanks.add(span.start, end);
    }

    /// Erases the type after an expression. A line that begins with a bracket would go on with it, so that it is ended.
    fn erase_after(&mut self, expression: Span, whole: Span) {
        self.blanks.add(expression.end, whole.end);
        let next = self.next_token(whole.end);
        let has_break = self.text(whole.end, next).contains('\n');
        if has_break && matches!(self.byte(next), Some(b'(' | b'[' | b'`')) {
            self.blanks.write(expression.end, ';');
        }
    }

    /// Erases the modifiers of a class member that stand before its name.
    fn erase_modifiers(&mut self, member: Span, name: u32) {
        let mut at = self.next_token(member.start);
        let mut is_first = true;
        while at < name {
            let word_end =
                self.text(at, name).find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$');
            let end = word_end.map_or(name, |length| at + u32::try_from(length).unwrap_or(0));
            if end > at && MODIFIERS.contains(&self.text(at, end)) {
                self.blanks.add(at, end);
                if is_first {
                    // What follows may begin with a bracket or an asterisk, and go on with the member before.
                    self.blanks.write(at, ';');
                }
            }
            is_first = false;
            at = self.next_token(end.max(at + 1));
        }
    }

    /// Erases what stands between the name of a class member and its value: a mark and a type. A field that is called like a
    /// modifier is ended: without its type it would be the modifier of the member in the next line.
    fn erase_member_type(
        &mut self,
        (key, is_computed): (&PropertyKey<'_>, bool),
        annotation: Option<&TSTypeAnnotation<'_>>,
        has_value: bool,
    ) {
        let mut end = key.span().end;
        if is_computed {
            let bracket = self.next_token(end);
            end = if self.byte(bracket) == Some(b']') { bracket + 1 } else { end };
        }
        match annotation {
            Some(annotation) => self.blanks.add(end, annotation.span.end),
            None => self.erase_mark(end),
        }
        let name = self.text(key.span().start, key.span().end);
        if !has_value && !is_computed && MODIFIERS_OF_JAVASCRIPT.contains(&name) {
            self.blanks.write(end, ';');
        }
    }

    fn erase_heritage(&mut self, class: &Class<'_>) {
        if let Some((first, last)) = class.implements.first().zip(class.implements.last()) {
            let before = class.heritage.as_ref().map(|heritage| {
                heritage
                    .type_arguments
                    .as_ref()
                    .map_or(heritage.expression.span().end, |arguments| arguments.span.end)
            });
            let before = before
                .or_else(|| class.type_parameters.as_ref().map(|parameters| parameters.span.end))
                .or_else(|| class.id.as_ref().map(|id| id.span.end))
                .unwrap_or(class.span.start);
            let keyword = self.text(before, first.span.start).rfind("implements").unwrap_or(0);
            self.blanks.add(before + u32::try_from(keyword).unwrap_or(0), last.span.end);
        }
    }
}

fn is_types_only(kind: ImportOrExportKind) -> bool {
    kind == ImportOrExportKind::Type
}

/// Returns true if a declaration has no code: the whole statement is erased, with its `export`.
fn is_erased(declaration: &Declaration<'_>) -> bool {
    match declaration {
        Declaration::TSTypeAliasDeclaration(_)
        | Declaration::TSInterfaceDeclaration(_)
        | Declaration::TSExternalModuleDeclaration(_)
        | Declaration::TSGlobalDeclaration(_) => true,
        Declaration::VariableDeclaration(it) => it.declare,
        Declaration::FunctionDeclaration(it) => it.declare || it.body.is_none(),
        Declaration::ClassDeclaration(it) => it.declare,
        Declaration::TSEnumDeclaration(it) => it.declare,
        Declaration::TSNamespaceDeclaration(it) => it.declare,
        Declaration::TSImportEqualsDeclaration(it) => is_types_only(it.import_kind),
    }
}

impl<'a> Visit<'a> for Eraser<'_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        match it.as_declaration() {
            Some(declaration) if is_erased(declaration) => self.erase_statement(it.span()),
            _ if matches!(it, Statement::TSNamespaceExportDeclaration(_)) => self.erase_statement(it.span()),
            _ => walk::walk_statement(self, it),
        }
    }

    fn visit_export_declaration(&mut self, it: &ExportDeclaration<'a>) {
        if is_erased(&it.declaration) {
            self.erase_statement(it.span);
        } else {
            walk::walk_export_declaration(self, it);
        }
    }

    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        match &it.declaration {
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => self.erase_statement(it.span),
            ExportDefaultDeclarationKind::FunctionDeclaration(function) if function.body.is_none() => {
                self.erase_statement(it.span);
            }
            _ => walk::walk_export_default_declaration(self, it),
        }
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        if is_types_only(it.import_kind) {
            return self.erase_statement(it.span);
        }
        for specifier in it.specifiers.iter().flatten() {
            if let ImportDeclarationSpecifier::ImportSpecifier(specifier) = specifier
                && is_types_only(specifier.import_kind)
            {
                self.erase_item(specifier.span);
            }
        }
    }

    fn visit_export_named_declaration(&mut self, it: &ExportNamedDeclaration<'a>) {
        if is_types_only(it.export_kind) {
            self.erase_statement(it.span);
        } else {
            walk::walk_export_named_declaration(self, it);
        }
    }

    fn visit_export_from_declaration(&mut self, it: &ExportFromDeclaration<'a>) {
        if is_types_only(it.export_kind) {
            self.erase_statement(it.span);
        } else {
            walk::walk_export_from_declaration(self, it);
        }
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        if is_types_only(it.export_kind) {
            self.erase_statement(it.span);
        }
    }

    fn visit_export_specifier(&mut self, it: &ExportSpecifier<'a>) {
        if is_types_only(it.export_kind) {
            self.erase_item(it.span);
        }
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.blanks.add_span(it.span);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.blanks.add_span(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.blanks.add_span(it.span);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.erase_after(it.expression.span(), it.span);
        self.visit_expression(&it.expression);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.erase_after(it.expression.span(), it.span);
        self.visit_expression(&it.expression);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.blanks.add(it.span.end - 1, it.span.end);
        self.visit_expression(&it.expression);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.refuse(it.span, ASSERTION);
    }

    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        self.refuse(it.span, ENUM);
    }

    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        self.refuse(it.span, NAMESPACE);
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        self.refuse(it.span, IMPORT_EQUALS);
    }

    fn visit_ts_export_assignment(&mut self, it: &TSExportAssignment<'a>) {
        self.refuse(it.span, EXPORT_EQUALS);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let Some(annotation) = &it.type_annotation {
            self.blanks.add(it.id.span().end, annotation.span.end);
        }
        self.visit_binding_pattern(&it.id);
        it.init.iter().for_each(|init| self.visit_expression(init));
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if it.accessibility.is_some() || it.readonly || it.r#override {
            self.refuse(it.span, PARAMETER_PROPERTY);
        }
        match &it.type_annotation {
            Some(annotation) => self.blanks.add(it.pattern.span().end, annotation.span.end),
            None if it.optional => self.erase_mark(it.pattern.span().end),
            None => {}
        }
        self.visit_binding_pattern(&it.pattern);
        it.initializer.iter().for_each(|value| self.visit_expression(value));
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if let Some(this) = &it.this_param {
            let end = this.type_annotation.as_ref().map_or(this.span.end, |annotation| annotation.span.end);
            self.erase_item(Span::new(this.span.start, end.max(this.span.end)));
        }
        walk::walk_function(self, it, flags);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        if let Some(parameters) = &it.type_parameters
            && self.text(parameters.span.start, it.params.span.start).contains('\n')
        {
            // `return` and `async` end at a line break, so the parenthesis moves up.
            self.blanks.add(it.params.span.start, it.params.span.start + 1);
            self.blanks.write(parameters.span.start, '(');
        }
        if let Some(returned) = &it.return_type
            && self.text(it.params.span.end - 1, returned.span.end).contains('\n')
        {
            // No line break may stand before the arrow, so the parenthesis moves down.
            self.blanks.add(it.params.span.end - 1, it.params.span.end);
            self.blanks.write(returned.span.end - 1, ')');
        }
        walk::walk_arrow_function_expression(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        if it.r#abstract {
            let at = self.text(it.span.start, it.body.span.start).find("abstract").unwrap_or(0);
            let start = it.span.start + u32::try_from(at).unwrap_or(0);
            self.blanks.add(start, start + 8);
        }
        self.erase_heritage(it);
        it.decorators.iter().for_each(|decorator| self.visit_decorator(decorator));
        it.type_parameters.iter().for_each(|parameters| self.visit_ts_type_parameter_declaration(parameters));
        it.heritage.iter().for_each(|heritage| self.visit_class_heritage(heritage));
        self.visit_class_body(&it.body);
    }

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        match it {
            ClassElement::TSIndexSignature(signature) => self.erase_statement(signature.span),
            _ => walk::walk_class_element(self, it),
        }
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        if it.value.body.is_none() || it.r#type == MethodDefinitionType::TSAbstractMethodDefinition {
            return self.erase_statement(it.span);
        }
        self.erase_modifiers(it.span, it.key.span().start);
        if it.optional {
            self.erase_mark(it.key.span().end);
        }
        walk::walk_method_definition(self, it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        if it.declare || it.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition {
            return self.erase_statement(it.span);
        }
        self.erase_modifiers(it.span, it.key.span().start);
        if it.type_annotation.is_some() || it.optional || it.definite {
            self.erase_member_type((&it.key, it.computed), it.type_annotation.as_deref(), it.value.is_some());
        }
        self.visit_property_key(&it.key);
        it.value.iter().for_each(|value| self.visit_expression(value));
    }

    fn visit_accessor_property(&mut self, it: &AccessorProperty<'a>) {
        self.erase_modifiers(it.span, it.key.span().start);
        if it.type_annotation.is_some() || it.definite {
            self.erase_member_type((&it.key, it.computed), it.type_annotation.as_deref(), it.value.is_some());
        }
        self.visit_property_key(&it.key);
        it.value.iter().for_each(|value| self.visit_expression(value));
    }
}
