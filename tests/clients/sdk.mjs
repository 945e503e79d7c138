// The official client, as most programs have it.

import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { flow } from './flow.mjs';

class Transport extends StreamableHTTPClientTransport {
  finishAuth(answer) {
    return super.finishAuth(answer.get('code'));
  }
}

await flow({ Client, Transport, Unauthorized: UnauthorizedError, options: {}, email: 'sdk@example.test' });
