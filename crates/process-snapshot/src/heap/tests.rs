//! The heap by itself, without an engine. Miri runs these with the portable fallback, since it has no mprotect(2).

use rquickjs::allocator::Allocator as _;

use super::{transient_list::ZEROED_BYTES, *};

const LIMIT: usize = 64 << 20;

fn heap() -> (Rc<SnapshotHeap>, SnapshotAllocator) {
    let heap = SnapshotHeap::new(MemoryMeter::with_limit(LIMIT));
    (Rc::clone(&heap), SnapshotAllocator(heap))
}

/// Allocates a block and fills it.
fn filled(allocator: &mut SnapshotAllocator, size: usize, byte: u8) -> *mut u8 {
    let block = allocator.alloc(size);
    assert!(!block.is_null());
    fill(block, size, byte);
    block
}

fn fill(block: *mut u8, size: usize, byte: u8) {
    // SAFETY: every caller has a block of at least that size, which was not freed.
    unsafe { block.write_bytes(byte, size) };
}

/// Returns true if every byte of a block is `byte`.
fn is_filled(block: *mut u8, size: usize, byte: u8) -> bool {
    // SAFETY: as for `fill`.
    let found = unsafe { std::slice::from_raw_parts(block, size) };
    // Compared as a whole: Miri needs minutes for a loop over a megabyte.
    *found == *vec![byte; size]
}

fn reset(heap: &SnapshotHeap) {
    // SAFETY: there is no runtime, and no test looks at a transient block after this.
    unsafe { heap.reset() };
}

#[test]
fn a_reset_restores_every_byte() {
    let (heap, mut allocator) = heap();
    let sizes = [16, 100, 4096, 70_000, 3];
    let blocks = sizes.map(|size| filled(&mut allocator, size, 1));
    heap.freeze();
    let used = heap.meter.used();
    for round in 2..5 {
        for (block, size) in blocks.into_iter().zip(sizes) {
            assert!(is_filled(block, size, 1));
            fill(block, size, round);
            filled(&mut allocator, size, round);
        }
        // SAFETY: freed once a round; the reset brings it back.
        unsafe { allocator.dealloc(blocks[1]) };
        assert!(heap.has_transient_blocks() && heap.meter.used() != used);
        reset(&heap);
        assert!(!heap.has_transient_blocks());
        assert_eq!(heap.meter.used(), used);
    }
    assert!(blocks.into_iter().zip(sizes).all(|(block, size)| is_filled(block, size, 1)));
}

#[test]
fn a_second_reset_and_a_second_freeze_change_nothing() {
    let (heap, mut allocator) = heap();
    let block = filled(&mut allocator, 64, 1);
    reset(&heap);
    assert!(is_filled(block, 64, 1), "before the freeze there is nothing to go back to");
    heap.freeze();
    fill(block, 64, 2);
    filled(&mut allocator, 64, 2);
    heap.freeze();
    reset(&heap);
    reset(&heap);
    assert!(is_filled(block, 64, 1) && !heap.has_transient_blocks());
}

#[test]
fn an_empty_heap_can_be_frozen() {
    let (heap, mut allocator) = heap();
    heap.freeze();
    filled(&mut allocator, 64, 1);
    reset(&heap);
    assert_eq!((heap.meter.used(), heap.has_transient_blocks()), (0, false));
}

#[test]
fn what_is_freed_after_the_freeze_is_overwritten() {
    let (heap, mut allocator) = heap();
    let kept = allocator.alloc(64);
    heap.freeze();
    let zeroed = || ZEROED_BYTES.replace(0);
    let a = filled(&mut allocator, 100, 7);
    let b = filled(&mut allocator, 2 * MAX_COPIED_BLOCK, 7);
    let c = filled(&mut allocator, 48, 7);
    // SAFETY: each was given by this allocator and is not used after it was handed back.
    unsafe {
        assert_eq!(zeroed(), 0);
        // It grows: its earlier place is overwritten, and what it held is there.
        let a = allocator.realloc(a, 1000);
        assert_eq!((zeroed(), is_filled(a, 100, 7)), (112, true));
        // It becomes shorter.
        let a = allocator.realloc(a, 16);
        assert_eq!((zeroed(), is_filled(a, 16, 7)), (1008 - 16, true));
        // A large one is the system's to move.
        let b = allocator.realloc(b, 3 * MAX_COPIED_BLOCK);
        assert_eq!((zeroed(), is_filled(b, 2 * MAX_COPIED_BLOCK, 7)), (0, true));
        allocator.dealloc(c);
        assert_eq!(zeroed(), 48);
        // Of the base, which is restored.
        allocator.dealloc(kept);
        assert_eq!(zeroed(), 0);
    }
    reset(&heap);
    assert_eq!(zeroed(), 16 + 3 * MAX_COPIED_BLOCK);
    assert!(!heap.has_transient_blocks());
}

#[test]
fn a_base_block_that_grows_after_the_freeze_comes_back() {
    let (heap, mut allocator) = heap();
    let block = filled(&mut allocator, 64, 1);
    heap.freeze();
    // SAFETY: each was given by this allocator; the reset brings `block` back.
    unsafe {
        assert_eq!(allocator.realloc(block, 32), block, "a base block does not shrink");
        let moved = allocator.realloc(block, 200);
        assert!(moved != block && is_filled(moved, 64, 1));
        fill(block, 64, 9);
    }
    reset(&heap);
    assert!(is_filled(block, 64, 1));
}

#[test]
fn a_request_above_the_limit_is_refused_and_remembered_until_the_reset() {
    let (heap, mut allocator) = heap();
    heap.freeze();
    let block = filled(&mut allocator, 64, 1);
    let used = heap.meter.used();
    assert!(allocator.alloc(LIMIT).is_null());
    assert!(heap.meter.was_refused());
    assert!(allocator.calloc(usize::MAX, 2).is_null());
    // SAFETY: the block was given by this allocator, and stays when it cannot grow.
    unsafe {
        assert!(allocator.realloc(block, LIMIT + 1).is_null());
        assert!(allocator.realloc(block, usize::MAX).is_null());
    }
    assert!(is_filled(block, 64, 1));
    assert_eq!(heap.meter.used(), used);
    reset(&heap);
    assert!(!heap.meter.was_refused());
}

#[test]
fn null_is_a_block_of_no_bytes() {
    let (heap, mut allocator) = heap();
    // SAFETY: null may be handed in, and the block was given by this allocator.
    unsafe {
        allocator.dealloc(null_mut());
        let block = allocator.realloc(null_mut(), 40);
        assert_eq!((block.addr() % ALIGN, SnapshotAllocator::usable_size(block)), (0, 48));
        allocator.dealloc(block);
    }
    assert_eq!(heap.meter.used(), 0);
    let zeros = allocator.calloc(5, 9);
    assert!(is_filled(zeros, 45, 0));
}

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// A block as it should be.
#[derive(Clone, Copy)]
struct Model {
    ptr: *mut u8,
    size: usize,
    byte: u8,
}

/// Allocates, resizes, fills and frees blocks, and compares every block with its model as it goes.
fn churn(allocator: &mut SnapshotAllocator, blocks: &mut Vec<Model>, random: &mut Random, steps: usize) {
    for _ in 0..steps {
        let (size, byte) = (random.below(3000), u8::try_from(random.below(256)).unwrap());
        let at = random.below(blocks.len().max(1));
        match random.below(4) {
            1 if !blocks.is_empty() => {
                let Model { ptr, size, byte } = blocks.swap_remove(at);
                assert!(is_filled(ptr, size, byte));
                // SAFETY: given by this allocator, and forgotten by the model.
                unsafe { allocator.dealloc(ptr) };
            }
            2 if !blocks.is_empty() => {
                let block = &mut blocks[at];
                // SAFETY: given by this allocator.
                block.ptr = unsafe { allocator.realloc(block.ptr, size) };
                assert!(is_filled(block.ptr, size.min(block.size), block.byte));
                (block.size, block.byte) = (size, byte);
                fill(block.ptr, size, byte);
            }
            3 if !blocks.is_empty() => {
                let block = &mut blocks[at];
                block.byte = byte;
                fill(block.ptr, block.size, byte);
            }
            _ => blocks.push(Model { ptr: filled(allocator, size, byte), size, byte }),
        }
    }
    assert!(blocks.iter().all(|block| is_filled(block.ptr, block.size, block.byte)));
}

#[test]
fn whatever_is_done_a_reset_brings_the_frozen_blocks_back() {
    let (heap, mut allocator) = heap();
    let (mut random, mut frozen) = (Random(1), Vec::new());
    let (steps, rounds) = if cfg!(miri) { (60, 4) } else { (1000, 300) };
    churn(&mut allocator, &mut frozen, &mut random, steps);
    heap.freeze();
    let used = heap.meter.used();
    for _ in 0..rounds {
        churn(&mut allocator, &mut frozen.clone(), &mut random, steps / 10);
        reset(&heap);
        assert_eq!((heap.meter.used(), heap.has_transient_blocks()), (used, false));
        assert!(frozen.iter().all(|block| is_filled(block.ptr, block.size, block.byte)));
    }
}

#[cfg(not(miri))]
mod tracked {
    use rustix::param::page_size;

    use super::*;

    fn dirty_pages(heap: &SnapshotHeap) -> usize {
        let tracker = heap.dirty_pages.borrow();
        tracker.as_ref().unwrap().dirty_ranges().map(|bytes| bytes.len() / page_size()).sum()
    }

    #[test]
    fn a_reset_copies_the_written_pages_only() {
        let (heap, mut allocator) = heap();
        let blocks: Vec<_> = (0..50).map(|_| filled(&mut allocator, page_size(), 1)).collect();
        heap.freeze();
        assert!(heap.tracks_dirty_pages());
        fill(blocks[20], 8, 2);
        fill(blocks[40], 8, 2);
        assert_eq!(dirty_pages(&heap), 2);
        // A byte that changes without a write to its page is one that a reset does not look at.
        reset(&heap);
        assert!(blocks.iter().all(|block| is_filled(*block, page_size(), 1)));
        assert_eq!(dirty_pages(&heap), 2, "pages stay writable");
        fill(blocks[20], 8, 3);
        reset(&heap);
        assert!(is_filled(blocks[20], page_size(), 1));
    }

    #[test]
    fn pages_count_as_unwritten_again_after_a_while() {
        let (heap, mut allocator) = heap();
        let block = filled(&mut allocator, 10 * page_size(), 1);
        heap.freeze();
        fill(block, 10 * page_size(), 2);
        assert!(dirty_pages(&heap) >= 10);
        for _ in 0..RETRACK_INTERVAL - 1 {
            reset(&heap);
        }
        assert!(dirty_pages(&heap) >= 10);
        reset(&heap);
        assert_eq!(dirty_pages(&heap), 0);
        fill(block, 1, 3);
        assert_eq!(dirty_pages(&heap), 1);
        reset(&heap);
        assert!(is_filled(block, 10 * page_size(), 1));
    }

    #[test]
    fn where_writes_cannot_be_tracked_all_bytes_are_restored() {
        let (other, _) = heap();
        other.freeze();
        assert!(other.tracks_dirty_pages());
        // The thread tracks the other heap already, which is refused as the kernel's refusal is.
        let (heap, mut allocator) = heap();
        let block = filled(&mut allocator, 10 * page_size(), 1);
        heap.freeze();
        assert!(!heap.tracks_dirty_pages());
        for _ in 0..3 {
            fill(block, 10 * page_size(), 2);
            reset(&heap);
            assert!(is_filled(block, 10 * page_size(), 1));
        }
    }
}

/// Extends the heap by what `build` allocates.
fn extend(heap: &SnapshotHeap, build: impl FnOnce()) {
    // SAFETY: as for `reset`.
    unsafe { heap.begin_extension() };
    build();
    heap.end_extension();
}

#[test]
fn an_extension_stays_until_it_is_discarded() {
    let (heap, mut allocator) = heap();
    let block = filled(&mut allocator, 100, 1);
    heap.freeze();
    let used = heap.meter.used();
    for round in 2..6 {
        let mut added = null_mut();
        extend(&heap, || {
            assert!(
                is_filled(block, 100, 1) && heap.meter.used() == used,
                "an extension begins at the freeze"
            );
            fill(block, 50, round);
            added = filled(&mut allocator, 20_000, round);
        });
        let extended = heap.meter.used();
        for _ in 0..3 {
            fill(block, 100, 9);
            fill(added, 20_000, 9);
            filled(&mut allocator, 5000, 9);
            reset(&heap);
            assert!(is_filled(block, 50, round) && is_filled(added, 20_000, round));
            assert!(!heap.has_transient_blocks() && heap.meter.used() == extended && extended > used);
        }
        // Another one replaces it, or nothing does.
        if round % 2 == 0 {
            filled(&mut allocator, 5000, 9);
            // SAFETY: as for `reset`.
            unsafe { heap.discard_extension() };
            assert!(!heap.has_transient_blocks());
            assert!(is_filled(block, 100, 1) && heap.meter.used() == used);
            assert!(is_filled(added, 20_000, 0), "what it held is overwritten");
        }
    }
}

#[test]
fn an_extension_that_is_not_ended_leaves_nothing() {
    let (heap, mut allocator) = heap();
    let block = filled(&mut allocator, 100, 1);
    heap.freeze();
    let used = heap.meter.used();
    // SAFETY: as for `reset`.
    unsafe { heap.begin_extension() };
    // SAFETY: freed once; what comes after brings it back.
    unsafe { allocator.dealloc(block) };
    let reused = filled(&mut allocator, 100, 2);
    assert_eq!(reused, block, "blocks of the freeze are used again");
    // SAFETY: as for `reset`.
    unsafe { heap.discard_extension() };
    assert!(is_filled(block, 100, 1) && heap.meter.used() == used);
    let transient = filled(&mut allocator, 100, 3);
    assert!(heap.has_transient_blocks() && transient != block);
}

#[test]
fn an_extension_that_does_not_fit_is_refused_memory() {
    let (heap, mut allocator) = heap();
    filled(&mut allocator, 100, 1);
    heap.freeze();
    // SAFETY: as for `reset`.
    unsafe { heap.begin_extension() };
    assert!(allocator.alloc(20 << 20).is_null() && heap.meter.was_refused());
    // SAFETY: as for `reset`.
    unsafe { heap.discard_extension() };
    assert!(!heap.meter.was_refused());
    filled(&mut allocator, 20 << 20, 1);
}

#[test]
fn only_a_frozen_heap_is_extended() {
    let (heap, mut allocator) = heap();
    let mut block = null_mut();
    extend(&heap, || block = filled(&mut allocator, 100, 1));
    // SAFETY: as for `reset`.
    unsafe { heap.discard_extension() };
    assert!(is_filled(block, 100, 1) && !heap.has_transient_blocks());
    heap.freeze();
    fill(block, 100, 2);
    reset(&heap);
    assert!(is_filled(block, 100, 1));
}
