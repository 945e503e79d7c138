import Stripe from 'stripe';
import { app, equal, rejects } from './checks.js';

const secret = 'whsec_only_for_this_test';
const payload = JSON.stringify({ id: 'evt_1', object: 'event', type: 'charge.succeeded', data: { object: { id: 'ch_1', amount: 500 } } });
const cryptoProvider = Stripe.createSubtleCryptoProvider();
const { webhooks } = Stripe;

export default app({
  'an event that Stripe signed': async () => {
    const header = await webhooks.generateTestHeaderStringAsync({ payload, secret, cryptoProvider });
    const event = await webhooks.constructEventAsync(payload, header, secret, undefined, cryptoProvider);
    equal([event.id, event.type, event.data.object.amount], ['evt_1', 'charge.succeeded', 500]);
  },
  'without a provider': async () => {
    const header = await webhooks.generateTestHeaderStringAsync({ payload, secret });
    equal((await webhooks.constructEventAsync(payload, header, secret)).id, 'evt_1');
  },
  'a payload of bytes': async () => {
    const header = await webhooks.generateTestHeaderStringAsync({ payload, secret, cryptoProvider });
    equal((await webhooks.constructEventAsync(new TextEncoder().encode(payload), header, secret, undefined, cryptoProvider)).id, 'evt_1');
  },
  'a signature of another implementation': async () => {
    // Made with: printf '1700000000.{"id":"evt_1"}' | openssl dgst -sha256 -hmac whsec_only_for_this_test
    const header = 't=1700000000,v1=9f31ca2fea070967e1813ac6be468bb512f50e42a7ed0f092a2b7b537a31f38e';
    const at = 1700000000 + 60;
    equal((await webhooks.constructEventAsync('{"id":"evt_1"}', header, secret, 300, cryptoProvider, at * 1000)).id, 'evt_1');
  },
  'a changed payload': async () => {
    const header = await webhooks.generateTestHeaderStringAsync({ payload, secret, cryptoProvider });
    await rejects(webhooks.constructEventAsync(payload.replace('500', '1'), header, secret, undefined, cryptoProvider), 'Error');
    await rejects(webhooks.constructEventAsync(payload, header, 'whsec_other', undefined, cryptoProvider), 'Error');
  },
  'an old signature': async () => {
    const timestamp = Math.floor(Date.now() / 1000) - 3600;
    const header = await webhooks.generateTestHeaderStringAsync({ payload, secret, timestamp, cryptoProvider });
    await rejects(webhooks.constructEventAsync(payload, header, secret, 300, cryptoProvider), 'Error');
    equal((await webhooks.constructEventAsync(payload, header, secret, 7200, cryptoProvider)).id, 'evt_1');
  },
  'no signature': () => rejects(webhooks.constructEventAsync(payload, '', secret, undefined, cryptoProvider), 'Error'),
  'a request of the API': async () => {
    const stripe = new Stripe('sk_test_none', { maxNetworkRetries: 0 });
    // The host of the test answers each request with what it was.
    const shown = await stripe.customers.retrieve('cus_1');
    equal([shown.method, shown.url], ['GET', 'https://api.stripe.com/v1/customers/cus_1']);
  },
});
