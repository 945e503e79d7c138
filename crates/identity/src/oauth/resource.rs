//! The resource that tokens are valid for: the MCP server, identified by its URL (RFC 8707).

/// Returns the URL of the MCP server of the deployment at `base`, which is the audience of every token.
#[must_use]
pub fn mcp_resource_url(base: &str) -> String {
    format!("{base}/mcp")
}

/// True if `resource` identifies the MCP server of the deployment at `base`. Some clients send the origin instead, or
/// add a slash; both are accepted.
#[must_use]
pub fn is_mcp_resource(resource: &str, base: &str) -> bool {
    resource.strip_prefix(base).is_some_and(|rest| matches!(rest, "" | "/" | "/mcp" | "/mcp/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_known_by_four_spellings() {
        let base = "https://qala.example";
        for tail in ["", "/", "/mcp", "/mcp/"] {
            assert!(is_mcp_resource(&format!("{base}{tail}"), base), "{tail}");
        }
        for other in [
            "https://qala.example.evil",
            "https://other.example/mcp",
            "/mcp",
            "",
            "https://qala.example/mcp?a",
        ] {
            assert!(!is_mcp_resource(other, base), "{other}");
        }
    }
}
