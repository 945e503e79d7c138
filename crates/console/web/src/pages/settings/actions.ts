/** Actions in the audit log of a workspace, by which it can be filtered. */
export const ACTIONS: readonly string[] = [
  'app.create', 'app.update', 'app.delete', 'app.pause', 'app.resume', 'app.share', 'app.unshare', 'version.create', 'change.plan',
  'automation.create', 'automation.update', 'automation.delete', 'automation.activate', 'automation.pause',
  'webhook.create', 'webhook.rotate', 'webhook.enable', 'webhook.disable', 'run.start', 'run.replay', 'approval.approve', 'approval.refuse', 'dead_letter.replay', 'dead_letter.discard',
  'gate.create', 'gate.open', 'gate.close',
  'project.create', 'project.settings', 'project.export', 'project.restore', 'project_key.create', 'project_key.revoke', 'table.create', 'table.drop', 'table.policy', 'table.public_read', 'column.add', 'index.add', 'index.drop',
  'row.insert', 'row.update', 'row.delete', 'row.import',
  'invite.create', 'invite.resend', 'invite.revoke', 'invite.accept', 'member.join', 'member.change', 'member.leave', 'member.remove',
  'join_domain.put', 'join_domain.verify', 'join_domain.change', 'join_domain.delete', 'join_domain.recheck', 'join_domain.lapse',
  'token.create', 'token.revoke', 'device.approve', 'oauth_grant.create', 'oauth_grant.revoke', 'oauth_grant.access_ended',
  'workspace.create', 'workspace.update', 'workspace.transfer', 'workspace.delete', 'workspace.restore',
];
