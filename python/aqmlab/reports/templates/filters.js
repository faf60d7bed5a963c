// Shows the claims that match every filter, and counts them.
const boxes = [...document.querySelectorAll('.choose select')];
function choose() {
  let count = 0;
  document.querySelectorAll('.chosen tr[data-verdict]').forEach(row => {
    row.hidden = boxes.some(box => box.value && row.dataset[box.name] !== box.value);
    count += !row.hidden;
  });
  document.getElementById('count').textContent = count + ' claims';
}
boxes.forEach(box => box.addEventListener('change', choose));
choose();
