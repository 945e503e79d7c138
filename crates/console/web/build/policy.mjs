// The security policy under which the console runs, in production and in development.

/** Returns the policy of pages at an origin. Other scripts of the origin than the console's may be those of apps. */
export const contentSecurityPolicy = (origin) => [
  "default-src 'none'",
  `script-src ${origin}/console/`,
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');
