// The text of a problem as the API says it: names stand in code, and a sentence begins with a capital.

const CODE = /`([^`]+)`/;
/** A plain word at the start; a file, a host or an id is none, and keeps its case. */
const FIRST_WORD = /^[a-z]+(?= )/;

/** Shows a text of the API. What it puts between backticks is a name. */
export function NamedText({ text }: { text: string }) {
  return <>{text.split(CODE).map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}

/** Shows a message of the API as a sentence. */
export function ProblemText({ text }: { text: string }) {
  return <NamedText text={text.replace(FIRST_WORD, (word) => word.charAt(0).toUpperCase() + word.slice(1))} />;
}
