/** An app that runs checks by name, and returns the names of those that passed and the errors of the others. */
export const app = (checks) => ({
  async scheduled() {
    const passed = [];
    const failed = {};
    for (const [name, check] of Object.entries(checks)) {
      try {
        await check();
        passed.push(name);
      } catch (error) {
        failed[name] = `${error?.name}: ${error?.message}\n${error?.stack}`;
      }
    }
    return { passed, failed };
  },
});

export const equal = (actual, expected) => {
  const [left, right] = [actual, expected].map((value) => JSON.stringify(value) ?? 'undefined');
  if (left !== right) throw new Error(`${left} instead of ${right}`);
};

export const rejects = async (promise, name) => {
  let error = null;
  try {
    await promise;
  } catch (caught) {
    error = caught;
  }
  if (error === null) throw new Error('it did not reject');
  if (name !== undefined) equal(error.name, name);
};
