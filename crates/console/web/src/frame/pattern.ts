// Patterns of paths: `/w/:ws/runs/:id`. The last parameter may take the rest of the path: `:path*`.

/** Returns the expression that matches the paths of a pattern, with a group for each parameter. */
export function patternOf(path: string): RegExp {
  const segments = path.split('/').map((segment) => {
    if (/^:\w+\*$/.test(segment)) return `(?<${segment.slice(1, -1)}>.+)`;
    if (segment.startsWith(':')) return `(?<${segment.slice(1)}>[^/]+)`;
    return segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${segments.join('/')}/?$`);
}

/** Orders fixed segments before parameters, and parameters before the rest of a path. */
function rank(path: string): string {
  return path.split('/').map((segment) => (segment.endsWith('*') ? '3' : segment.startsWith(':') ? '2' : '1')).join('');
}

/** Compares two patterns: the one to try first is the smaller. */
export function comparePatterns(a: string, b: string): number {
  return rank(a) < rank(b) ? -1 : 1;
}
