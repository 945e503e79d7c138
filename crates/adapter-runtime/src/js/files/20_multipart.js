/** A line break of any kind becomes CRLF. */
const withCrlf = (value) => value.replace(/\r\n|\r|\n/g, '\r\n');
/** A name between quotation marks (HTML §4.10.22.8). */
const quoted = (name) => `"${name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22')}"`;

/** A boundary that no content can know beforehand. */
const newBoundary = () => {
  const random = new Uint8Array(native.random(16));
  let digits = '';
  for (let at = 0; at < random.length; at++) digits += (256 + random[at]).toString(16).slice(1);
  return `----formdata-${digits}`;
};

/** The bytes of a form and their content type. */
const encodeForm = (form) => {
  const boundary = newBoundary();
  const chunks = [];
  let length = 0;
  const add = (chunk) => {
    chunks.push(chunk);
    length += chunk.length;
  };
  const entries = entriesOf(form);
  for (let at = 0; at < entries.length; at++) {
    const [name, value] = entries[at];
    const head = `--${boundary}\r\nContent-Disposition: form-data; name=${quoted(withCrlf(name))}`;
    if (typeof value === 'string') {
      add(utf8(`${head}\r\n\r\n${withCrlf(value)}\r\n`));
    } else {
      add(utf8(`${head}; filename=${quoted(value.name)}\r\nContent-Type: ${value.type || 'application/octet-stream'}\r\n\r\n`));
      add(bytesIn(value));
      add(utf8('\r\n'));
    }
  }
  add(utf8(`--${boundary}--\r\n`));
  return [joined(chunks, length), `multipart/form-data; boundary=${boundary}`];
};

/** The form that bytes of a content type hold. */
const decodeForm = (bytes, type) => {
  const form = new FormData();
  const entries = entriesOf(form);
  // Five values for each entry: its name, its file name or null, its type, and where its content begins and ends, or its
  // content and null.
  const flat = native.parseForm(type ?? '', bytes);
  if (typeof flat === 'string') throw new TypeError(flat);
  for (let at = 0; at < flat.length; at += 5) {
    const [filename, start, end] = [flat[at + 1], flat[at + 3], flat[at + 4]];
    const content = typeof start === 'string' ? start : bytes.subarray(start, end);
    const value = typeof content === 'string' ? content
      : typeof filename !== 'string' ? native.decode(content, false, true)
        : new File(new Blob(content.slice(), typeOf(flat[at + 2]), KEY), filename, undefined, KEY);
    entries.push([flat[at], value]);
  }
  return form;
};
