// Tooltips (`data-tip`) are drawn by the style sheet, below their element and to its left. Here is said which of them has no room
// there: in the foot of a panel, in a bar, at the edge of a phone.

/** Room that a tooltip of three lines needs below its element. */
const BELOW = 70;
/** The widest tooltip. */
const WIDTH = 268;

function place({ target }: Event): void {
  const element = target instanceof Element ? target.closest<HTMLElement>('[data-tip]') : null;
  if (!element) return;
  const { bottom, top, left, right } = element.getBoundingClientRect();
  element.toggleAttribute('data-tip-above', bottom + BELOW > innerHeight && top > BELOW);
  element.toggleAttribute('data-tip-end', right < WIDTH && left + WIDTH < innerWidth);
}

/** Places each tooltip before it is shown. */
export function startTooltips(): void {
  document.addEventListener('pointerover', place, { passive: true });
  document.addEventListener('focusin', place);
}
