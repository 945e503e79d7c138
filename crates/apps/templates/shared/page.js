// Pages in HTML.

const STYLE = 'body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}table{width:100%;border-collapse:collapse}td,th{padding:.4rem;border-bottom:1px solid #d7dce1;text-align:left}input,select,button{font:inherit;padding:.4rem;margin:.2rem 0}.ok{color:#12693a}.bad{color:#a1201b}';

/**
 * Returns a value as text in HTML.
 * @param {unknown} value
 */
export function escape(value) {
  return String(value ?? '').replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

/**
 * Returns a page. The body is HTML; the title is text.
 * @param {string} title
 * @param {string} body
 * @param {number} [status]
 */
export function page(title, body, status = 200) {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(title)}</title><style>${STYLE}</style><h1>${escape(title)}</h1>${body}</html>`;
  return new Response(html, { status, headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' } });
}
