// Weak references as ECMA-262 has them (KeepDuringJob): what one was made of, or gave, lives to the end of the job. The
// engine frees what nothing holds at once, so that `new WeakRef({}).deref()` would find nothing.

const keepWeakTargets = () => {
  const Native = WeakRef;
  const { prototype } = Native;
  const { deref } = prototype;
  const { apply, construct } = Reflect;
  const { then } = Promise.prototype;
  const done = Promise.resolve();
  let kept = [];
  const forget = () => { kept = []; };
  const keep = (target) => {
    if (kept.length === 0) apply(then, done, [forget]);
    // The same again and again, as in a loop, is kept once.
    if (kept[kept.length - 1] !== target) kept[kept.length] = target;
  };
  const Kept = function WeakRef(target) {
    if (!new.target) throw new TypeError('WeakRef is made with new');
    const reference = construct(Native, [target], new.target);
    keep(target);
    return reference;
  };
  Object.defineProperty(Kept, 'prototype', { value: prototype, writable: false });
  define(prototype, {
    constructor: Kept,
    deref: {
      deref() {
        const target = apply(deref, this, []);
        if (target !== undefined) keep(target);
        return target;
      },
    }.deref,
  });
  define(globalThis, { WeakRef: Kept });
};
