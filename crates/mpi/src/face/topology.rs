// SPDX-License-Identifier: MIT OR Apache-2.0
//! Topologies.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::c_int;

use super::comm_new::{complete, make, making};
use super::{Comm, Count, Entered, In, Info, Out, Owner, call};
use crate::abi::{Abi, UNWEIGHTED, WEIGHTS_EMPTY};
use crate::error::{Class, Error, Result};
use crate::group::Group;
use crate::handle::CommId;
use crate::topology::{Cart, Edge, Graph, Neighbors, Topology, balanced};

fn topology_of(mpi: &Entered, comm: CommId) -> Result<Option<&Topology>> {
    mpi.process.comm(comm)?;
    Ok(mpi.topologies.get(&comm))
}

fn cart_of(mpi: &Entered, comm: CommId) -> Result<&Cart> {
    match topology_of(mpi, comm)? {
        Some(Topology::Cart(cart)) => Ok(cart),
        _ => Err(not_a("Cartesian topology")),
    }
}

fn graph_of(mpi: &Entered, comm: CommId) -> Result<&Graph> {
    match topology_of(mpi, comm)? {
        Some(Topology::Graph(graph)) => Ok(graph),
        _ => Err(not_a("graph")),
    }
}

fn neighbors_of(mpi: &Entered, comm: CommId) -> Result<&Neighbors> {
    match topology_of(mpi, comm)? {
        Some(Topology::Dist(neighbors)) => Ok(neighbors),
        _ => Err(not_a("distributed graph")),
    }
}

#[cold]
fn not_a(what: &str) -> Error {
    Error::new(Class::Topology, format!("the communicator has no {what}"))
}

fn dims_error(what: impl Into<String>) -> Error {
    Error::new(Class::Dims, what)
}

/// A number of dimensions or nodes.
fn number(count: c_int) -> Result<usize> {
    usize::try_from(count).map_err(|_| dims_error(format!("the number {count} is negative")))
}

fn as_rank(rank: c_int, ranks: u32) -> Result<u32> {
    let found = u32::try_from(rank).ok().filter(|&rank| rank < ranks);
    found.ok_or_else(|| {
        let what = format!("there is no rank {rank}; there are {ranks} ranks");
        Error::new(Class::Rank, what)
    })
}

fn size_of(mpi: &Entered, comm: CommId) -> Result<u32> {
    Ok(mpi.process.comm(comm)?.group.size() as u32)
}

/// A communicator of the first `size` ranks of another, with a topology.
fn make_with(
    mpi: &mut Entered,
    comm: CommId,
    size: u32,
    name: &'static str,
    topology: Topology,
) -> Result<CommId> {
    let all = mpi.process.comm(comm)?.group.world_ranks();
    let group = Group::new(all[..size as usize].to_vec());
    let new = make(mpi, comm, (group, None), name)?;
    if new != CommId::NULL {
        mpi.topologies.insert(new, topology);
    }
    Ok(new)
}

/// A grid as a program gives it, for at most so many ranks.
fn cart_from(
    (count, dims, periods): (c_int, In<c_int>, In<c_int>),
    ranks: u32,
) -> Result<(Cart, u32)> {
    let count = number(count)?;
    // With an extent of 0 it is a grid of nobody, as with other libraries.
    let dims = dims.slice(count)?.iter().map(|&dim| {
        u32::try_from(dim).map_err(|_| dims_error(format!("a dimension has the extent {dim}")))
    });
    let cart = Cart {
        dims: dims.collect::<Result<_>>()?,
        periods: periods
            .slice(count)?
            .iter()
            .map(|&flag| flag != 0)
            .collect(),
    };
    let size = cart.size().filter(|&size| size <= ranks);
    let size = size.ok_or_else(|| {
        let what = format!(
            "a grid of {:?} has more places than the {ranks} ranks",
            cart.dims
        );
        Error::new(Class::Arg, what)
    })?;
    Ok((cart, size))
}

pub fn topo_test<A: Abi>(comm: Comm<A>, status: Out<c_int>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Topo_test", comm, |mpi| {
        status.set(match topology_of(mpi, comm)? {
            None => A::UNDEFINED,
            Some(Topology::Cart(_)) => A::CART,
            Some(Topology::Graph(_)) => A::GRAPH,
            Some(Topology::Dist(_)) => A::DIST_GRAPH,
        })
    })
}

pub fn dims_create<A: Abi>(nodes: c_int, count: c_int, dims: Out<c_int>) -> c_int {
    call::<A>("MPI_Dims_create", Owner::Nobody, |_| {
        let given = dims.array().slice(number(count)?)?;
        let extents = given.iter().map(|&dim| {
            u32::try_from(dim).map_err(|_| dims_error(format!("a dimension has the extent {dim}")))
        });
        let extents = extents.collect::<Result<Vec<u32>>>()?;
        let nodes = u32::try_from(nodes).ok().filter(|&nodes| nodes > 0);
        let nodes = nodes.ok_or_else(|| dims_error("the number of nodes is not positive"))?;
        let found = balanced(nodes, &extents);
        let found = found.ok_or_else(|| {
            dims_error(format!("{nodes} nodes do not fill a grid of {extents:?}"))
        })?;
        dims.set_all(found.into_iter().map(|dim| dim as c_int))
    })
}

pub fn cart_create<A: Abi>(
    comm: Comm<A>,
    count: c_int,
    dims: In<c_int>,
    periods: In<c_int>,
    _reorder: c_int,
    made: Out<Comm<A>>,
) -> c_int {
    let comm = comm.id();
    making("MPI_Cart_create", comm, made, |mpi| {
        let ranks = size_of(mpi, comm)?;
        let (cart, size) = cart_from((count, dims, periods), ranks)?;
        let topology = Topology::Cart(cart);
        make_with(mpi, comm, size, "MPI_Cart_create", topology)
    })
}

pub fn cart_map<A: Abi>(
    comm: Comm<A>,
    count: c_int,
    dims: In<c_int>,
    periods: In<c_int>,
    rank: Out<c_int>,
) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Cart_map", comm, |mpi| {
        let (_, size) = cart_from((count, dims, periods), size_of(mpi, comm)?)?;
        let here = mpi.process.comm(comm)?.rank;
        rank.set(if here < size {
            here as c_int
        } else {
            A::UNDEFINED
        })
    })
}

pub fn cartdim_get<A: Abi>(comm: Comm<A>, count: Out<c_int>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Cartdim_get", comm, |mpi| {
        count.set(cart_of(mpi, comm)?.dims.len() as c_int)
    })
}

pub fn cart_get<A: Abi>(
    comm: Comm<A>,
    room: c_int,
    dims: Out<c_int>,
    periods: Out<c_int>,
    coords: Out<c_int>,
) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Cart_get", comm, |mpi| {
        let cart = cart_of(mpi, comm)?;
        let here = cart.coords(mpi.process.comm(comm)?.rank);
        let count = number(room)?.min(cart.dims.len());
        dims.set_all(cart.dims[..count].iter().map(|&dim| dim as c_int))?;
        periods.set_all(cart.periods[..count].iter().map(|&is_ring| is_ring.into()))?;
        coords.set_all(here[..count].iter().map(|&at| at as c_int))
    })
}

pub fn cart_rank<A: Abi>(comm: Comm<A>, coords: In<c_int>, rank: Out<c_int>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Cart_rank", comm, |mpi| {
        let cart = cart_of(mpi, comm)?;
        let coords = coords.slice(cart.dims.len())?;
        let outside = || {
            let what = format!("{coords:?} is not in the grid of {:?}", cart.dims);
            Error::new(Class::Arg, what)
        };
        rank.set(cart.rank(coords).ok_or_else(outside)? as c_int)
    })
}

pub fn cart_coords<A: Abi>(comm: Comm<A>, rank: c_int, room: c_int, coords: Out<c_int>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Cart_coords", comm, |mpi| {
        let ranks = size_of(mpi, comm)?;
        let cart = cart_of(mpi, comm)?;
        let there = cart.coords(as_rank(rank, ranks)?);
        let count = number(room)?.min(there.len());
        coords.set_all(there[..count].iter().map(|&at| at as c_int))
    })
}

pub fn cart_shift<A: Abi>(
    comm: Comm<A>,
    dimension: c_int,
    by: c_int,
    source: Out<c_int>,
    dest: Out<c_int>,
) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Cart_shift", comm, |mpi| {
        let cart = cart_of(mpi, comm)?;
        let here = mpi.process.comm(comm)?.rank;
        let dimension = usize::try_from(dimension).ok();
        let dimension = dimension.filter(|&dimension| dimension < cart.dims.len());
        let none = || dims_error(format!("there are {} dimensions", cart.dims.len()));
        let dimension = dimension.ok_or_else(none)?;
        let at = |by: i64| {
            let rank = cart.shifted(here, dimension, by);
            rank.map_or(A::PROC_NULL, |rank| rank as c_int)
        };
        source.set(at(-i64::from(by)))?;
        dest.set(at(by.into()))
    })
}

pub fn cart_sub<A: Abi>(comm: Comm<A>, remain: In<c_int>, made: Out<Comm<A>>) -> c_int {
    let comm = comm.id();
    making("MPI_Cart_sub", comm, made, |mpi| {
        let cart = cart_of(mpi, comm)?.clone();
        let remain = remain.slice(cart.dims.len())?;
        let here = mpi.process.comm(comm)?.rank;
        let mine = cart.coords(here);
        let kept = |index: &usize| remain[*index] != 0;
        let indices: Vec<usize> = (0..cart.dims.len()).filter(kept).collect();
        let sub = Cart {
            dims: indices.iter().map(|&index| cart.dims[index]).collect(),
            periods: indices.iter().map(|&index| cart.periods[index]).collect(),
        };
        // Who agrees with this rank in the dimensions that go.
        let is_with = |rank: &u32| {
            let theirs = cart.coords(*rank);
            (0..theirs.len()).all(|index| remain[index] != 0 || theirs[index] == mine[index])
        };
        let all = mpi.process.comm(comm)?.group.world_ranks();
        let members = (0..all.len() as u32).filter(is_with);
        let group = Group::new(members.map(|rank| all[rank as usize]).collect());
        let new = make(mpi, comm, (group, None), "MPI_Cart_sub")?;
        mpi.topologies.insert(new, Topology::Cart(sub));
        Ok(new)
    })
}

/// A graph as a program gives it, for at most so many ranks.
fn graph_from(nodes: c_int, index: In<c_int>, edges: In<c_int>, ranks: u32) -> Result<Graph> {
    let bad = |what: &str| Error::new(Class::Arg, what);
    let nodes = number(nodes)?;
    if nodes > ranks as usize {
        return Err(bad("the graph has more nodes than there are ranks"));
    }
    let index = index.slice(nodes)?.iter();
    let index = { index }.map(|&end| u32::try_from(end).map_err(|_| bad("an index is negative")));
    let index = index.collect::<Result<Vec<u32>>>()?;
    if !index.is_sorted() {
        return Err(bad("the indices of a graph go down"));
    }
    let edges = edges.slice(index.last().map_or(0, |&end| end as usize))?;
    let edges = edges.iter().map(|&to| as_rank(to, nodes as u32));
    let edges = edges.collect::<Result<_>>()?;
    Ok(Graph { index, edges })
}

pub fn graph_create<A: Abi>(
    comm: Comm<A>,
    nodes: c_int,
    index: In<c_int>,
    edges: In<c_int>,
    _reorder: c_int,
    made: Out<Comm<A>>,
) -> c_int {
    let comm = comm.id();
    making("MPI_Graph_create", comm, made, |mpi| {
        let graph = graph_from(nodes, index, edges, size_of(mpi, comm)?)?;
        let size = graph.index.len() as u32;
        let topology = Topology::Graph(graph);
        make_with(mpi, comm, size, "MPI_Graph_create", topology)
    })
}

pub fn graph_map<A: Abi>(
    comm: Comm<A>,
    nodes: c_int,
    index: In<c_int>,
    edges: In<c_int>,
    rank: Out<c_int>,
) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Graph_map", comm, |mpi| {
        let graph = graph_from(nodes, index, edges, size_of(mpi, comm)?)?;
        let here = mpi.process.comm(comm)?.rank;
        let is_in = (here as usize) < graph.index.len();
        rank.set(if is_in { here as c_int } else { A::UNDEFINED })
    })
}

pub fn graphdims_get<A: Abi>(comm: Comm<A>, nodes: Out<c_int>, edges: Out<c_int>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Graphdims_get", comm, |mpi| {
        let graph = graph_of(mpi, comm)?;
        nodes.set(graph.index.len() as c_int)?;
        edges.set(graph.edges.len() as c_int)
    })
}

/// As many numbers as there is room for.
fn give(numbers: &[u32], room: c_int, place: Out<c_int>) -> Result<()> {
    let count = number(room)?.min(numbers.len());
    place.set_all(numbers[..count].iter().map(|&number| number as c_int))
}

pub fn graph_get<A: Abi>(
    comm: Comm<A>,
    index_room: c_int,
    edge_room: c_int,
    index: Out<c_int>,
    edges: Out<c_int>,
) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Graph_get", comm, |mpi| {
        let graph = graph_of(mpi, comm)?;
        give(&graph.index, index_room, index)?;
        give(&graph.edges, edge_room, edges)
    })
}

pub fn graph_neighbors_count<A: Abi>(comm: Comm<A>, rank: c_int, count: Out<c_int>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Graph_neighbors_count", comm, |mpi| {
        let graph = graph_of(mpi, comm)?;
        let rank = as_rank(rank, graph.index.len() as u32)?;
        count.set(graph.neighbors(rank).len() as c_int)
    })
}

pub fn graph_neighbors<A: Abi>(
    comm: Comm<A>,
    rank: c_int,
    room: c_int,
    neighbors: Out<c_int>,
) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Graph_neighbors", comm, |mpi| {
        let graph = graph_of(mpi, comm)?;
        let rank = as_rank(rank, graph.index.len() as u32)?;
        give(graph.neighbors(rank), room, neighbors)
    })
}

/// Weights of `count` edges, and whether they were given.
fn weights_from(weights: In<c_int>, count: usize) -> Result<(Vec<i32>, bool)> {
    match weights.number() {
        UNWEIGHTED => Ok((vec![1; count], false)),
        WEIGHTS_EMPTY if count > 0 => Err(Error::new(
            Class::Arg,
            "the weights are MPI_WEIGHTS_EMPTY, and there are edges",
        )),
        WEIGHTS_EMPTY => Ok((Vec::new(), true)),
        _ => Ok((weights.slice(count)?.to_vec(), true)),
    }
}

/// Ranks of neighbours.
fn ranks_from(count: c_int, ranks: In<c_int>, size: u32) -> Result<Vec<u32>> {
    let ranks = ranks.slice(count.count()?)?.iter();
    { ranks }.map(|&rank| as_rank(rank, size)).collect()
}

pub fn dist_graph_create_adjacent<A: Abi>(
    comm: Comm<A>,
    in_count: c_int,
    sources: In<c_int>,
    source_weights: In<c_int>,
    out_count: c_int,
    destinations: In<c_int>,
    destination_weights: In<c_int>,
    _info: Info<A>,
    _reorder: c_int,
    made: Out<Comm<A>>,
) -> c_int {
    let comm = comm.id();
    let name = "MPI_Dist_graph_create_adjacent";
    making(name, comm, made, |mpi| {
        let size = size_of(mpi, comm)?;
        let sources = ranks_from(in_count, sources, size)?;
        let destinations = ranks_from(out_count, destinations, size)?;
        let (source_weights, are_in) = weights_from(source_weights, sources.len())?;
        let (destination_weights, are_out) = weights_from(destination_weights, destinations.len())?;
        let neighbors = Neighbors {
            sources,
            source_weights,
            destinations,
            destination_weights,
            is_weighted: are_in && are_out,
        };
        check_edges(mpi, comm, &neighbors, name)?;
        make_with(mpi, comm, size, name, Topology::Dist(neighbors))
    })
}

/// With `CORECAST_CHECK=1`, that both ends name every edge: a collective over one that only one of them
/// names would wait for ever.
fn check_edges(
    mpi: &mut Entered,
    comm: CommId,
    neighbors: &Neighbors,
    name: &'static str,
) -> Result<()> {
    if !mpi.process.comm(comm)?.collectives.settings.checks {
        return Ok(());
    }
    // Rows are as long as the longest, and begin with how many of them are sources, and destinations.
    let counts = [&neighbors.sources, &neighbors.destinations].map(|list| list.len() as u32);
    let longest = gather(mpi, comm, &[counts[0] + counts[1]], name)?;
    let longest = 2 + longest.into_iter().max().unwrap_or(0) as usize;
    let edges = neighbors.sources.iter().chain(&neighbors.destinations);
    let mut row: Vec<u32> = counts.iter().chain(edges).copied().collect();
    row.resize(longest, 0);
    let rows = gather(mpi, comm, &row, name)?;
    let mut named: BTreeMap<[u32; 2], [usize; 2]> = BTreeMap::new();
    for (rank, row) in (0..).zip(rows.chunks_exact(longest)) {
        let (sources, rest) = row[2..].split_at(row[0] as usize);
        for &from in sources {
            named.entry([from, rank]).or_default()[0] += 1;
        }
        for &to in &rest[..row[1] as usize] {
            named.entry([rank, to]).or_default()[1] += 1;
        }
    }
    let mut edges = named
        .into_iter()
        .map(|([from, to], [by_receiver, by_sender])| Edge {
            from,
            to,
            by_sender,
            by_receiver,
        });
    edges.try_for_each(|edge| edge.refuse())
}

/// The edges that this rank names: from, to, weight.
fn edges_from(
    (count, sources, degrees, destinations): (c_int, In<c_int>, In<c_int>, In<c_int>),
    weights: In<c_int>,
    size: u32,
) -> Result<(Vec<[u32; 3]>, bool)> {
    let sources = ranks_from(count, sources, size)?;
    let degrees = degrees.slice(sources.len())?.iter();
    let degrees = { degrees }
        .map(|&degree| degree.count())
        .collect::<Result<Vec<usize>>>()?;
    let total: usize = degrees.iter().sum();
    let total = c_int::try_from(total);
    let total = total.map_err(|_| Error::new(Class::Count, "there are too many edges"))?;
    let destinations = ranks_from(total, destinations, size)?;
    let (weights, is_weighted) = weights_from(weights, destinations.len())?;
    let from = sources.iter().zip(degrees);
    let from = from.flat_map(|(&source, degree)| std::iter::repeat_n(source, degree));
    let edges = from.zip(destinations).zip(weights);
    let edges = edges.map(|((from, to), weight)| [from, to, weight.cast_unsigned()]);
    Ok((edges.collect(), is_weighted))
}

/// What every rank gives, as words; all give the same number.
fn gather(mpi: &mut Entered, comm: CommId, words: &[u32], name: &'static str) -> Result<Vec<u32>> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let gathering = mpi.process.gather_all(comm, &bytes, name)?;
    let gathered = complete(mpi, gathering)?;
    let (words, _) = gathered.result().as_chunks::<4>();
    Ok(words.iter().map(|&word| u32::from_ne_bytes(word)).collect())
}

pub fn dist_graph_create<A: Abi>(
    comm: Comm<A>,
    count: c_int,
    sources: In<c_int>,
    degrees: In<c_int>,
    destinations: In<c_int>,
    weights: In<c_int>,
    _info: Info<A>,
    _reorder: c_int,
    made: Out<Comm<A>>,
) -> c_int {
    let comm = comm.id();
    let name = "MPI_Dist_graph_create";
    making(name, comm, made, |mpi| {
        let size = size_of(mpi, comm)?;
        let here = mpi.process.comm(comm)?.rank;
        let given = (count, sources, degrees, destinations);
        let (edges, is_weighted) = edges_from(given, weights, size)?;
        // Everybody learns of every edge: rows are as long as the longest.
        let counts = gather(mpi, comm, &[edges.len() as u32], name)?;
        let longest = counts.iter().copied().max().unwrap_or(0) as usize;
        let mut row: Vec<u32> = edges.iter().flatten().copied().collect();
        row.resize(3 * longest.max(1), 0);
        let rows = gather(mpi, comm, &row, name)?;
        let mut neighbors = Neighbors {
            sources: Vec::new(),
            source_weights: Vec::new(),
            destinations: Vec::new(),
            destination_weights: Vec::new(),
            is_weighted,
        };
        for (row, &count) in rows.chunks_exact(3 * longest.max(1)).zip(&counts) {
            let (edges, _) = row.as_chunks::<3>();
            for &[from, to, weight] in &edges[..count as usize] {
                if to == here {
                    neighbors.sources.push(from);
                    neighbors.source_weights.push(weight.cast_signed());
                }
                if from == here {
                    neighbors.destinations.push(to);
                    neighbors.destination_weights.push(weight.cast_signed());
                }
            }
        }
        make_with(mpi, comm, size, name, Topology::Dist(neighbors))
    })
}

pub fn dist_graph_neighbors_count<A: Abi>(
    comm: Comm<A>,
    in_count: Out<c_int>,
    out_count: Out<c_int>,
    is_weighted: Out<c_int>,
) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Dist_graph_neighbors_count", comm, |mpi| {
        let neighbors = neighbors_of(mpi, comm)?;
        in_count.set(neighbors.sources.len() as c_int)?;
        out_count.set(neighbors.destinations.len() as c_int)?;
        is_weighted.set(neighbors.is_weighted.into())
    })
}

pub fn dist_graph_neighbors<A: Abi>(
    comm: Comm<A>,
    in_room: c_int,
    sources: Out<c_int>,
    source_weights: Out<c_int>,
    out_room: c_int,
    destinations: Out<c_int>,
    destination_weights: Out<c_int>,
) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Dist_graph_neighbors", comm, |mpi| {
        let neighbors = neighbors_of(mpi, comm)?;
        give(&neighbors.sources, in_room, sources)?;
        give(&neighbors.destinations, out_room, destinations)?;
        if !neighbors.is_weighted {
            return Ok(());
        }
        let all = [
            (&neighbors.source_weights, in_room, source_weights),
            (
                &neighbors.destination_weights,
                out_room,
                destination_weights,
            ),
        ];
        for (weights, room, place) in all {
            let count = number(room)?.min(weights.len());
            if ![UNWEIGHTED, WEIGHTS_EMPTY].contains(&place.number()) {
                place.set_all(weights[..count].iter().copied())?;
            }
        }
        Ok(())
    })
}
