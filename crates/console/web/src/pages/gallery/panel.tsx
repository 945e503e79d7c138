import { Button, Facts, Panel } from '#ui';

export default function ExamplePanel() {
  return (
    <Panel title="A panel" actions={<Button variant="primary">Save changes</Button>}>
      <Facts facts={[['Made by', 'Ana Karim'], ['Version', '12'], ['Host', 'prices.example.kz']]} />
      <p>It has an address of its own, closes with Esc, and is a page on phones.</p>
    </Panel>
  );
}
