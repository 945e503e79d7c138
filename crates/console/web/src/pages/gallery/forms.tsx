import { useState } from 'preact/hooks';
import { Checkbox, Choice, Select, Switch, TextArea, TextField } from '#ui';
import { Part } from './part';

export function Forms() {
  const [name, setName] = useState('Price watcher');
  const [mode, setMode] = useState('signed');
  const [isOn, setOn] = useState(true);
  return (
    <Part title="Forms">
      <div class="gallery-form">
        <TextField label="Name" hint="2 to 60 characters" value={name} onInput={setName} />
        <TextField label="Host" error="A host has no scheme: api.example.kz" value="https://api.example.kz" onInput={() => undefined} />
        <Select label="Role" value={mode} onChange={setMode} options={[{ value: 'signed', label: 'Builder' }, { value: 'b', label: 'Viewer' }]} />
        <TextArea label="Description" value="Keeps a note for everything that reaches it." onInput={() => undefined} />
        <Switch label="Active" hint="Takes effect at once." checked={isOn} onChange={setOn} />
        <Checkbox label="Read rows" checked={isOn} onChange={setOn} />
        <Choice label="Proof" value={mode} onChange={setMode} options={[{ value: 'signed', label: 'Signature', detail: 'The sender signs each call with a secret.' }, { value: 'token', label: 'Token', detail: 'The sender sends a secret.' }]} />
      </div>
    </Part>
  );
}
