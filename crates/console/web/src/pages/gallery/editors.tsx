import { useState } from 'preact/hooks';
import { CodeFiles, Diff, JsonEditor } from '#ui';
import { Part } from './part';

const MAIN = "import { total } from './lib.js';\n\nexport default {\n  // Started by a webhook.\n  async scheduled(event, env) {\n    const rows = await env.data.main.select('notes', { done: 'eq.false', limit: '10' });\n    console.log(`${rows.length} notes`, total(rows), 42, true);\n  },\n};\n";
const BEFORE = { 'main.js': MAIN.replace("'10'", "'5'"), 'lib.js': 'export const total = (rows) => rows.length;\n' };
const AFTER = { ...BEFORE, 'main.js': MAIN };

export function Editors() {
  const [json, setJson] = useState('{\n  "watches": 40,\n  "dryRun": false\n}');
  const [files, setFiles] = useState<Record<string, string>>(AFTER);
  return (
    <>
      <Part title="JSON editor"><JsonEditor label="Input" value={json} onChange={setJson} original={'{\n  "watches": 40,\n  "dryRun": true\n}'} height="short" /></Part>
      <Part title="Files"><CodeFiles files={files} originals={BEFORE} onChange={(path, text) => setFiles({ ...files, [path]: text })} /></Part>
      <Part title="Diff"><Diff original={BEFORE['main.js']} changed={AFTER['main.js']} language="javascript" labels={['Version 11', 'Version 12']} /></Part>
    </>
  );
}
