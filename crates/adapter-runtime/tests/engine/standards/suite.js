/** An app that runs cases by name, and tells which passed and why the others failed. */
export const suite = (...tables) => ({
  async scheduled() {
    const passed = [];
    const failed = {};
    for (const [name, check] of tables.flatMap((table) => (Array.isArray(table) ? table : Object.entries(table)))) {
      if (passed.includes(name) || name in failed) throw new Error(`two cases are called ${name}`);
      try {
        await check();
        passed.push(name);
      } catch (error) {
        failed[name] = `${error?.name}: ${error?.message}`;
      }
    }
    return { passed, failed };
  },
});

/** One case for each row; `name` and `check` take the values of the row. */
export const each = (rows, name, check) => rows.map((row) => {
  const values = Array.isArray(row) ? row : [row];
  return [name(...values), () => check(...values)];
});

export const same = (actual, expected) => {
  const [left, right] = [actual, expected].map((value) => JSON.stringify(value) ?? 'undefined');
  if (left !== right) throw new Error(`${left} instead of ${right}`);
};

export const rejects = async (promise, name) => {
  const error = await promise.then(() => null, (caught) => caught);
  if (error === null) throw new Error('it did not reject');
  same(error.name, name);
};

export const throws = (call, name) => {
  let error = null;
  try {
    call();
  } catch (caught) {
    error = caught;
  }
  if (error === null) throw new Error('nothing was thrown');
  same(error.name, name);
};

export const utf8 = (text) => new TextEncoder().encode(text);
export const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
export const bytes = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
