import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesHost } from './host-in-text.ts';

test('a host is found in a sentence, and not in a longer host', () => {
  for (const text of ['The host `example.com` is not declared.', 'https://example.com/a', 'example.com', 'GET example.com:443 was refused', 'No gate allows example.com.']) assert.ok(namesHost(text, 'example.com'), text);
  for (const text of ['`api.example.com`', 'example.com.evil.test', 'my-example.com', 'example.community', '']) assert.ok(!namesHost(text, 'example.com'), text);
  assert.ok(namesHost('`api.example.com` and `example.com`', 'example.com'), 'the second one');
});
