// Says in a chat what happens to the issues of a GitHub repository.

import { sendToChat } from './chat.js';

/** What to say of the actions of GitHub's event `issues`; the others are ignored. */
const VERBS = new Map([['opened', 'opened'], ['closed', 'closed'], ['reopened', 'reopened']]);

/** @type {Qala.App} */
export default {
  async scheduled(event, env) {
    const { action, issue, repository, sender } = event.data ?? {};
    const verb = VERBS.get(action);
    // GitHub also sends a ping when the webhook is added.
    if (verb === undefined || issue === undefined) return { ignored: action ?? 'not about an issue' };
    await sendToChat(env, `${sender?.login} ${verb} ${repository?.full_name}#${issue.number}: ${issue.title}\n${issue.html_url}`);
    return { sent: issue.number };
  },
};
