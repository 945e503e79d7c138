// The official client's second generation, on the protocol without a handshake.

import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';

import { flow } from './flow.mjs';

const options = { versionNegotiation: { mode: 'auto' } };
await flow({ Client, Transport: StreamableHTTPClientTransport, Unauthorized: UnauthorizedError, options, email: 'client2@example.test' });
