// OpenChemLib's molecule editor, where the package has brought it; it is loaded when it is first wanted.

let library = null;

/** An editor in an element: `set` shows a SMILES, and `changed` is called with that of every edit. */
export async function moleculeEditor(element, smiles, changed) {
  library ??= await import("./vendor/openchemlib/openchemlib.js");
  const { CanvasEditor, Molecule } = library;
  const editor = new CanvasEditor(element);
  const read = (text) => { try { return Molecule.fromSmiles(text); } catch { return null; } };
  const show = (text) => {
    const molecule = read(text);
    if (molecule) editor.setMolecule(molecule);
    return Boolean(molecule);
  };
  show(smiles);
  editor.setOnChangeListener((event) => {
    if (!event.isUserEvent || event.type !== "molecule") return;
    changed(editor.getMolecule().toIsomericSmiles());
  });
  return { set: show, destroy: () => editor.destroy() };
}
